import { z } from 'zod'
import { EngineError, InvalidInputError, JobStateError } from '../domain/errors.ts'
import { JobId } from '../domain/ids.ts'
import { Sha256Hex } from '../domain/job/events.ts'
import type { JobDocument } from '../domain/job/document.ts'
import { eventOfWire, wireEventSchema } from './client/eventOfWire.ts'
import { pause } from './client/pause.ts'
import { type Asking, restClient, type RestClientParts } from './client/restClient.ts'
import { estimateSchema } from './client/schemas/estimateSchema.ts'
import { jobDocumentSchema, outputFileSchema } from './client/schemas/jobDocumentSchema.ts'
import { jobInListSchema } from './client/schemas/jobInListSchema.ts'
import { ledgerSchema } from './client/schemas/ledgerSchema.ts'
import { listOf, pageOf } from './client/schemas/listOf.ts'
import { auditReportSchema, projectionCheckSchema, projectionStatusSchema } from './client/schemas/reportSchemas.ts'
import type { Asker, Engine, ProjectionCheck, Submission } from './engine.ts'
import { commandKey } from './remote/commandKey.ts'
import { followedJob } from './remote/followedJob.ts'
import { liveFrames } from './remote/liveFrames.ts'
import { puttingOnce } from './remote/puttingOnce.ts'
import { queryOfList } from './remote/queryOfList.ts'
import { jsonText, submissionBody } from './remote/submissionBody.ts'

const itemsOf = <Item extends z.ZodType>(item: Item) => z.strictObject({ items: listOf(item) })
const statuses = itemsOf(projectionStatusSchema)
const foundSchema = z.strictObject({ job: jobDocumentSchema.nullable() })

/**
 * The engine of a server, over REST. It does and raises what `localEngine` does, as far as the token allows; who asks
 * (`actor`) is the token. Requests that are safe to repeat are repeated for a few seconds where the server is away: a
 * submit by its key, a command by its `commandId`; so a submit that is answered late may say that the job was there.
 */
export const remoteEngine = (parts: RestClientParts): Engine => {
  const client = restClient(parts)
  const get = (path: readonly string[], query: Asking['query'] = {}): Asking => ({ method: 'GET', path, query, isRepeatable: true })
  const ofJob = (handle: string, ...more: readonly string[]): readonly string[] => ['jobs', sendable(handle), ...more]

  const status = async (handle: string): Promise<JobDocument> => client.json(get(ofJob(handle)), jobDocumentSchema)

  const putFile: Engine['putFile'] = (projectId, content) =>
    client.json(
      { method: 'POST', path: ['artifacts'], query: { projectId }, body: content, isRepeatable: true },
      z.strictObject({ sha256: Sha256Hex, bytes: z.int().nonnegative() }),
    )

  const getFile: Engine['getFile'] = async (projectId, sha256) => {
    try {
      return await client.bytes(get(['artifacts', sha256], { projectId }))
    } catch (error) {
      if (error instanceof EngineError && error.code === 'artifact_not_found') return null
      throw error
    }
  }

  const putOnce = puttingOnce(putFile)
  const submitting = async (path: readonly string[], submission: Submission): Promise<Asking> => ({
    method: 'POST',
    path,
    body: await submissionBody(submission, putOnce),
    isRepeatable: true,
  })

  const command = async (handle: string, name: string, body: object, asker: Asker = {}): Promise<JobDocument> =>
    client.json(
      {
        method: 'POST',
        path: ofJob(handle, name),
        headers: { 'idempotency-key': commandKey(asker) },
        body: jsonText(body),
        isRepeatable: true,
      },
      jobDocumentSchema,
    )

  const outputFiles: Engine['outputFiles'] = async (handle) =>
    (await client.json(get(ofJob(handle, 'output')), itemsOf(outputFileSchema))).items

  const projections: Engine['projections'] = async () => (await client.json(get(['projections']), statuses)).items

  /** Those that are meant: all where none is named. One that is not there is refused before anything is done. */
  const named = async (names: readonly string[]): Promise<readonly string[]> => {
    const known = (await projections()).map(({ name }) => name)
    const unknown = names.find((name) => !known.includes(name))
    if (unknown === undefined) return names.length === 0 ? known : names
    throw new InvalidInputError(`there is no projection "${unknown}" (known: ${known.join(', ')})`, { projection: unknown, known })
  }

  return {
    submit: async (submission) => client.json(await submitting(['jobs'], submission), jobDocumentSchema),
    find: async (submission) => (await client.json(await submitting(['jobs', 'find'], submission), foundSchema)).job,
    estimate: async (submission) => client.json(await submitting(['jobs', 'estimate'], submission), estimateSchema),
    status,
    list: async (query) => client.json(get(['jobs'], queryOfList(query)), pageOf(jobInListSchema)),
    async events(handle, { afterRevision, limit } = {}) {
      const query = { limit, ...(afterRevision === undefined || afterRevision < 0 ? {} : { afterRevision }) }
      const { items, nextCursor } = await client.json(get(ofJob(handle, 'events'), query), pageOf(wireEventSchema))
      return { items: items.map(eventOfWire), nextCursor }
    },

    pause: (handle, asker) => command(handle, 'pause', {}, asker),
    resume: (handle, limits, asker) => command(handle, 'resume', limits === undefined ? {} : { limits }, asker),
    cancel: (handle, asker) => command(handle, 'cancel', {}, asker),
    retry: (handle, asker) => command(handle, 'retry', {}, asker),
    raiseBudget: (handle, limits, asker) => command(handle, 'budget', { limits }, asker),
    reconcile: (handle, reconciliation, asker) => command(handle, 'reconcile', reconciliation, asker),

    ledger: async (handle) => client.json(get(ofJob(handle, 'ledger')), ledgerSchema),
    audit: async (handle) => client.json(get(ofJob(handle, 'audit')), auditReportSchema),
    async verifyLog({ progress } = {}) {
      const report = await client.json(get(['log', 'verify']), auditReportSchema)
      progress?.(report.events)
      return report
    },

    projections,
    async rebuild(names) {
      for (const name of await named(names)) {
        // Not repeated: where the answer is lost, the server may still be at it.
        await client.json({ method: 'POST', path: ['projections', name, 'rebuild'], isRepeatable: false }, statuses)
      }
      return projections()
    },
    async verifyProjections(names) {
      const checks: ProjectionCheck[] = []
      for (const name of await named(names)) checks.push(await client.json(get(['projections', name, 'verify']), projectionCheckSchema))
      return checks
    },

    async *follow(handle, signal) {
      const ask = (): Promise<JobDocument> => status(handle)
      const frames = () => liveFrames(parts, { jobId: handle, after: 'end' }, signal)
      yield* followedJob({ ask, frames, sleep: parts.sleep ?? pause }, signal)
    },
    outputFiles,
    async *output(handle) {
      const { projectId, jobId } = await status(handle)
      for (const { path, sha256 } of await outputFiles(jobId)) {
        const content = await getFile(projectId, sha256)
        if (content === null) {
          throw new JobStateError('artifact_missing', `artifact ${sha256} of job ${jobId} is gone: restore it`, { jobId, sha256 })
        }
        yield { path, content }
      }
    },
    live: (query, signal) => liveFrames(parts, query, signal),
    putFile,
    getFile,
    async resolve(handle, projectIds) {
      const { jobId, projectId } = await status(handle)
      if (projectIds === undefined || projectIds.includes(projectId)) return JobId.parse(jobId)
      throw new JobStateError('job_not_found', `there is no job "${handle}"`, { handle, nearest: [] })
    },
    close: async () => {},
  }
}

/** A handle that can stand in an address: all others name no job. */
const sendable = (handle: string): string => {
  if (/^[\w-]{1,100}$/.test(handle)) return handle
  throw new JobStateError('job_not_found', `there is no job "${handle}"`, { handle, nearest: [] })
}
