import { JobStateError } from '../domain/errors.ts'
import type { ArtifactRef } from '../domain/job/events.ts'
import type { Job } from '../domain/job/job.ts'
import type { ArtifactStore } from '../domain/ports/artifactStore.ts'
import type { JobDefinition } from './defineJob.ts'

/**
 * The files a succeeded job leaves, in the order they are to be written. Raises `JobStateError` for a job that has
 * not succeeded, and for a stored file that is gone (`artifact_missing`).
 */
export async function* outputOf(
  deps: { readonly artifacts: ArtifactStore; readonly submitting: { readonly definitions: ReadonlyMap<string, JobDefinition> } },
  job: Job,
): AsyncGenerator<{ path: string; content: Uint8Array }> {
  if (job.state !== 'succeeded' || job.output === null) {
    throw new JobStateError('job_state', `job ${job.jobId} is ${job.state}: only a succeeded job has output`, {
      jobId: job.jobId,
      state: job.state,
    })
  }
  const read = async (ref: Pick<ArtifactRef, 'sha256'>): Promise<Uint8Array> => {
    const content = await deps.artifacts.get(job.spec.projectId, ref.sha256)
    if (content !== null) return content
    throw new JobStateError('artifact_missing', `artifact ${ref.sha256} of job ${job.jobId} is gone: restore it`, {
      jobId: job.jobId,
      sha256: ref.sha256,
    })
  }
  const output: unknown =
    'json' in job.output ? job.output.json : JSON.parse(new TextDecoder().decode(await read(job.output.artifact)))
  const files = deps.submitting.definitions.get(job.spec.type)?.files?.(output) ?? []
  for (const { path, ref } of files) yield { path, content: await read(ref) }
}
