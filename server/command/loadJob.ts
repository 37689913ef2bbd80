import { z } from 'zod'
import { jobStream, type JobId } from '../../domain/ids.ts'
import { evolveVersion, fold } from '../../domain/job/evolve.ts'
import type { JobEvent, UnknownEvent } from '../../domain/job/events.ts'
import type { Job } from '../../domain/job/job.ts'
import { isKnown, readEvent } from '../../domain/job/readEvent.ts'
import type { EventStore, StoredEvent } from '../../domain/ports/eventStore.ts'
import type { Sha256 } from '../../domain/ports/hash.ts'
import type { Snapshot, SnapshotStore } from '../../domain/ports/viewStore.ts'
import { chainStart } from '../../domain/seal.ts'

/** A job as far as its stream was read. */
export type LoadedJob = {
  readonly jobId: JobId
  /** Null when the stream is empty. */
  readonly job: Job | null
  /** Revision of the last event read; -1 when the stream is empty. */
  readonly revision: number
  /** Hash of that event: what the next one is chained to. */
  readonly hash: string
  /** The first event that this program does not know: the job can be read up to it, and not written. */
  readonly unknown: UnknownEvent | null
}

export type JobLoading = {
  readonly events: EventStore
  readonly snapshots: SnapshotStore
  readonly sha256: Sha256
}

/** Events between two snapshots of a job: what a load reads beyond its snapshot at most. */
export const snapshotEvery = 1_000
const pageSize = 1_000

export const emptyJob = (jobId: JobId, sha256: Sha256): LoadedJob => ({
  jobId,
  job: null,
  revision: -1,
  hash: chainStart(jobStream(jobId), sha256),
  unknown: null,
})

/**
 * Folds a job's stream: from its snapshot where the log confirms it, else from the start. Snapshots only save time: a
 * store of views that is away makes the load slower, and nothing else.
 */
export const loadJob = async (loading: JobLoading, jobId: JobId): Promise<LoadedJob> => {
  const from = (await fromSnapshot(loading, jobId)) ?? emptyJob(jobId, loading.sha256)
  const loaded = await catchUp(loading.events, from)
  if (loaded.revision - from.revision >= snapshotEvery) await saveSnapshot(loading, loaded).catch(() => {})
  return loaded
}

/** Reads what was written behind `from`. */
export const catchUp = async (
  events: EventStore,
  from: LoadedJob,
  note: (event: JobEvent) => void = () => {},
): Promise<LoadedJob> => {
  let loaded = from
  for (;;) {
    const page = await events.readStream(jobStream(from.jobId), { from: loaded.revision + 1, limit: pageSize })
    loaded = foldPage(loaded, page, note)
    if (page.length < pageSize) return loaded
  }
}

const foldPage = (loaded: LoadedJob, page: readonly StoredEvent[], note: (event: JobEvent) => void): LoadedJob => {
  const last = page.at(-1)
  if (last === undefined) return loaded
  const read = page.map(readEvent)
  const unknownAt = read.findIndex((event) => !isKnown(event))
  const known = (unknownAt === -1 ? read : read.slice(0, unknownAt)).filter(isKnown)
  const unknown = read[unknownAt]
  // Behind an event that nobody here understands, the fold would be a guess.
  const foldable = loaded.unknown === null ? known : []
  foldable.forEach(note)
  return {
    jobId: loaded.jobId,
    job: fold(loaded.job, foldable),
    revision: last.revision,
    hash: last.hash,
    unknown: loaded.unknown ?? (unknown !== undefined && !isKnown(unknown) ? unknown : null),
  }
}

// Its checksum says that the text is what was saved, and its version that this program would save the same.
const SavedJob = z.custom<Job>((value) => typeof value === 'object' && value !== null)

const fromSnapshot = async (loading: JobLoading, jobId: JobId): Promise<LoadedJob | null> => {
  const snapshot = await loading.snapshots.loadSnapshot(jobStream(jobId)).catch(() => null)
  if (snapshot === null || snapshot.foldVersion !== evolveVersion) return null
  if (loading.sha256(snapshot.state) !== snapshot.checksum) return null
  const [event] = await loading.events.readStream(jobStream(jobId), { from: snapshot.revision, limit: 1 })
  if (event?.revision !== snapshot.revision || event.hash !== snapshot.hash) return null
  return {
    jobId,
    job: SavedJob.parse(JSON.parse(snapshot.state)),
    revision: snapshot.revision,
    hash: snapshot.hash,
    unknown: null,
  }
}

/** Saves the fold, for later loads. Nothing depends on it. */
export const saveSnapshot = async (
  loading: Pick<JobLoading, 'snapshots' | 'sha256'>,
  loaded: LoadedJob,
): Promise<void> => {
  if (loaded.unknown !== null || loaded.job === null) return
  const state = JSON.stringify(loaded.job)
  const snapshot: Snapshot = {
    revision: loaded.revision,
    hash: loaded.hash,
    foldVersion: evolveVersion,
    state,
    checksum: loading.sha256(state),
  }
  await loading.snapshots.saveSnapshot(jobStream(loaded.jobId), snapshot)
}
