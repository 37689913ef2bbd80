import { JobStateError } from '../domain/errors.ts'
import type { ArtifactRef } from '../domain/job/events.ts'
import type { Job } from '../domain/job/job.ts'
import type { ArtifactStore } from '../domain/ports/artifactStore.ts'
import type { JobDefinition } from './defineJob.ts'
import type { OutputFile } from './engine.ts'

type Reading = {
  readonly artifacts: ArtifactStore
  readonly submitting: { readonly definitions: ReadonlyMap<string, JobDefinition> }
}

/**
 * Where the files that a succeeded job leaves are stored, in the order they are to be written. Raises `JobStateError`
 * for a job that has not succeeded, and for a stored result that is gone (`artifact_missing`).
 */
export const outputFilesOf = async (deps: Reading, job: Job): Promise<readonly OutputFile[]> => {
  if (job.state !== 'succeeded' || job.output === null) {
    throw new JobStateError('job_state', `job ${job.jobId} is ${job.state}: only a succeeded job has output`, {
      jobId: job.jobId,
      state: job.state,
    })
  }
  const output: unknown =
    'json' in job.output ? job.output.json : JSON.parse(new TextDecoder().decode(await stored(deps, job, job.output.artifact)))
  const files = deps.submitting.definitions.get(job.spec.type)?.files?.(output) ?? []
  return files.map(({ path, ref }) => ({ path, ...ref }))
}

/** The files themselves, each read when it is asked for. Raises as `outputFilesOf` does, also for a file that is gone. */
export async function* outputOf(deps: Reading, job: Job): AsyncGenerator<{ path: string; content: Uint8Array }> {
  for (const file of await outputFilesOf(deps, job)) yield { path: file.path, content: await stored(deps, job, file) }
}

const stored = async ({ artifacts }: Reading, job: Job, ref: Pick<ArtifactRef, 'sha256'>): Promise<Uint8Array> => {
  const content = await artifacts.get(job.spec.projectId, ref.sha256)
  if (content !== null) return content
  throw new JobStateError('artifact_missing', `artifact ${ref.sha256} of job ${job.jobId} is gone: restore it`, {
    jobId: job.jobId,
    sha256: ref.sha256,
  })
}
