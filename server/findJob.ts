import { JobStateError } from '../domain/errors.ts'
import { JobId } from '../domain/ids.ts'
import { nearest } from '../domain/nearest.ts'
import type { ViewStore } from '../domain/ports/viewStore.ts'
import { jobList } from '../projections/jobList.ts'

const suggestionsMax = 3
const neighboursMax = 200

/**
 * The job that a handle names: its id, or a prefix that no other job has. `views` must be current. Raises
 * `JobStateError` (`job_not_found`, with the nearest ids; `ambiguous_handle`, with those it could mean).
 */
export const findJob = async (views: ViewStore, handle: string): Promise<JobId> => {
  const { name, version } = jobList
  const wanted = handle.toLowerCase()
  if (!/^[0-9a-f]{1,32}$/.test(wanted)) throw notFound(handle, await neighbours(views, ''))
  const found = await views.scan(name, version, { after: justBefore(wanted), limit: suggestionsMax + 1 })
  const matching = found.map((document) => document.key).filter((key) => key.startsWith(wanted))
  const [first, second] = matching
  if (first === undefined) throw notFound(handle, await neighbours(views, wanted))
  if (second !== undefined) {
    const candidates = matching.slice(0, suggestionsMax)
    throw new JobStateError('ambiguous_handle', `"${handle}" could be ${candidates.join(' or ')}: give more of it`, {
      handle,
      candidates,
    })
  }
  return JobId.parse(first)
}

/** The last text before this one among hex prefixes: scans begin behind a key. */
const justBefore = (prefix: string): string => {
  const last = prefix.charCodeAt(prefix.length - 1)
  return prefix.slice(0, -1) + String.fromCharCode(last - 1) + '~'
}

const neighbours = async (views: ViewStore, wanted: string): Promise<readonly string[]> => {
  const near = await views.scan(jobList.name, jobList.version, { after: wanted.slice(0, 1), limit: neighboursMax })
  const keys = near.map((document) => document.key)
  const close = nearest(wanted, keys.map((key) => key.slice(0, wanted.length)))
  const alike = close === null ? [] : keys.filter((key) => key.startsWith(close))
  return [...new Set([...alike, ...keys])].slice(0, suggestionsMax)
}

const notFound = (handle: string, near: readonly string[]): JobStateError =>
  new JobStateError(
    'job_not_found',
    `there is no job "${handle}"${near.length === 0 ? '' : `: did you mean ${near.join(' or ')}?`}`,
    { handle, nearest: near },
  )
