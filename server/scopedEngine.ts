import { ForbiddenError } from '../domain/errors.ts'
import type { JobId } from '../domain/ids.ts'
import { type Grant, type Role, roles } from './access.ts'
import type { Asker, Engine, Submission } from './engine.ts'

/**
 * The engine as the holder of a grant may use it. A job of a project that the grant is not for is as unknown as one
 * that is not there; to name such a project, or to do what the role does not allow, raises `ForbiddenError`.
 * `providers`: whom jobs may ask. Their addresses are those of the configuration, so that no key goes anywhere else.
 */
export const scopedEngine = (engine: Engine, grant: Grant, providers: readonly string[]): Engine => {
  const { refuseRole, refuseProject, refuseAllProjects } = refusals(grant)
  const own = grant.projects ?? undefined
  const found = (handle: string): Promise<JobId> => engine.resolve(handle, own)
  const commanded = (handle: string): Promise<JobId> => {
    refuseRole('operate')
    return found(handle)
  }
  const asked = (asker?: Asker): Asker => ({ ...asker, actor: `token:${grant.name}` })
  const foreseen = (submission: Submission): Submission => {
    refuseProject(submission.projectId ?? 'default')
    refuseProvider(submission, providers)
    return submission
  }

  return {
    async submit(submission, asker) {
      refuseRole('operate')
      return engine.submit(foreseen(submission), asked(asker))
    },
    find: async (submission) => engine.find(foreseen(submission)),
    async estimate(submission, projectIds) {
      for (const projectId of projectIds ?? []) refuseProject(projectId)
      return engine.estimate(foreseen(submission), projectIds ?? own)
    },
    status: async (handle) => engine.status(await found(handle)),
    async list(query) {
      for (const projectId of [query.projectId ?? [], query.projectIds ?? []].flat()) refuseProject(projectId)
      return engine.list({ ...query, ...within(query.projectIds ?? own) })
    },
    events: async (handle, page) => engine.events(await found(handle), page),
    pause: async (handle, asker) => engine.pause(await commanded(handle), asked(asker)),
    resume: async (handle, limits, asker) => engine.resume(await commanded(handle), limits, asked(asker)),
    cancel: async (handle, asker) => engine.cancel(await commanded(handle), asked(asker)),
    retry: async (handle, asker) => engine.retry(await commanded(handle), asked(asker)),
    raiseBudget: async (handle, limits, asker) => engine.raiseBudget(await commanded(handle), limits, asked(asker)),
    reconcile: async (handle, told, asker) => engine.reconcile(await commanded(handle), told, asked(asker)),
    ledger: async (handle) => engine.ledger(await found(handle)),
    audit: async (handle) => engine.audit(await found(handle)),
    async verifyLog(options) {
      refuseAllProjects()
      return engine.verifyLog(options)
    },
    async projections() {
      refuseRole('operate')
      return engine.projections()
    },
    async rebuild(names, progress) {
      refuseAllProjects()
      return engine.rebuild(names, progress)
    },
    async verifyProjections(names) {
      refuseAllProjects()
      return engine.verifyProjections(names)
    },
    async *follow(handle, signal) {
      yield* engine.follow(await found(handle), signal)
    },
    async *output(handle) {
      yield* engine.output(await found(handle))
    },
    outputFiles: async (handle) => engine.outputFiles(await found(handle)),
    async *live(query, signal) {
      for (const projectId of query.projectIds ?? []) refuseProject(projectId)
      const job = query.jobId === undefined ? {} : { jobId: await found(query.jobId) }
      yield* engine.live({ ...query, ...job, ...within(query.projectIds ?? own) }, signal)
    },
    async putFile(projectId, content) {
      refuseRole('operate')
      refuseProject(projectId)
      return engine.putFile(projectId, content)
    },
    async getFile(projectId, sha256) {
      refuseProject(projectId)
      return engine.getFile(projectId, sha256)
    },
    resolve: async (handle, projectIds) => {
      for (const projectId of projectIds ?? []) refuseProject(projectId)
      return engine.resolve(handle, projectIds ?? own)
    },
    // Others use it too.
    close: async () => {},
  }
}

const within = (projectIds: readonly string[] | undefined) => (projectIds === undefined ? {} : { projectIds })

const refusals = ({ name, role, projects }: Grant) => {
  const refuseRole = (needed: Role): void => {
    if (roles.indexOf(role) >= roles.indexOf(needed)) return
    throw new ForbiddenError(`token "${name}" has the role ${role}, and this needs ${needed}`, { role, needed })
  }
  return {
    refuseRole,
    refuseProject(projectId: string): void {
      if (projects === null || projects.includes(projectId)) return
      throw new ForbiddenError(`token "${name}" is not for project ${JSON.stringify(projectId)}, only for ${projects.join(', ')}`, { projectId, projects })
    },
    refuseAllProjects(): void {
      refuseRole('admin')
      if (projects === null) return
      throw new ForbiddenError(`token "${name}" is only for ${projects.join(', ')}, and this needs one for all projects`, { projects })
    },
  }
}

const refuseProvider = ({ provider = null }: Submission, known: readonly string[]): void => {
  if (provider === null) return
  const { name, baseUrl = null } = provider
  if (baseUrl !== null) {
    throw new ForbiddenError('a base URL is part of the configuration here: name the provider alone', { provider: name }, 'forbidden_base_url')
  }
  if (known.includes(name)) return
  throw new ForbiddenError(
    `provider ${JSON.stringify(name)} is not configured here (known: ${known.join(', ')})`,
    { provider: name, known },
    'forbidden_provider',
  )
}
