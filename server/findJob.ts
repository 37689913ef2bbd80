import { JobStateError } from '../domain/errors.ts'
import { JobId } from '../domain/ids.ts'
import { nearest } from '../domain/nearest.ts'
import type { ViewStore } from '../domain/ports/viewStore.ts'
import { jobList } from '../projections/jobList.ts'
import { jobListOf } from '../projections/jobLists.ts'
import { queryLists } from './queryLists.ts'

const suggestionsMax = 3
const neighboursMax = 200
const scanPageSize = 500

/**
 * The job that a handle names: its id, or a prefix that no other job has. `views` must be current. Raises
 * `JobStateError` (`job_not_found`, with the nearest ids; `ambiguous_handle`, with those it could mean).
 *
 * With `projectIds`, jobs of all other projects are as if they were not there.
 */
export const findJob = async (views: ViewStore, handle: string, projectIds?: readonly string[]): Promise<JobId> => {
  const wanted = handle.toLowerCase()
  const scope = scopeOf(projectIds)
  if (!/^[0-9a-f]{1,32}$/.test(wanted)) throw notFound(handle, await neighbours(views, '', scope))
  const matching = await idsBeginning(views, wanted, scope)
  const [first, second] = matching
  if (first === undefined) throw notFound(handle, await neighbours(views, wanted, scope))
  if (second !== undefined) {
    const candidates = matching.slice(0, suggestionsMax)
    throw new JobStateError('ambiguous_handle', `"${handle}" could be ${candidates.join(' or ')}: give more of it`, {
      handle,
      candidates,
    })
  }
  return JobId.parse(first)
}

/** The lists of the projects whose jobs may be found; null: all of them. */
type Scope = readonly string[] | null

const scopeOf = (projectIds: readonly string[] | undefined): Scope =>
  projectIds === undefined ? null : [...new Set(projectIds)].map((projectId) => jobListOf({ projectId }).term)

/** The first ids that begin so; more than are suggested say nothing more. */
const idsBeginning = async (views: ViewStore, wanted: string, scope: Scope): Promise<readonly string[]> => {
  const found: string[] = []
  const limit = scope === null ? suggestionsMax + 1 : scanPageSize
  for (let after = justBefore(wanted); ; ) {
    const page = await views.scan(jobList.name, jobList.version, { after, limit })
    for (const { key, terms } of page) {
      if (!key.startsWith(wanted)) return found
      if (scope === null || scope.some((term) => terms.includes(term))) found.push(key)
      if (found.length > suggestionsMax) return found
    }
    const last = page.at(-1)
    if (last === undefined || page.length < limit) return found
    after = last.key
    // A short prefix among a million jobs must not keep a server from answering others.
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** The last text before this one among hex prefixes: scans begin behind a key. */
const justBefore = (prefix: string): string => {
  const last = prefix.charCodeAt(prefix.length - 1)
  return prefix.slice(0, -1) + String.fromCharCode(last - 1) + '~'
}

const neighbours = async (views: ViewStore, wanted: string, scope: Scope): Promise<readonly string[]> => {
  const near =
    scope === null
      ? await views.scan(jobList.name, jobList.version, { after: wanted.slice(0, 1), limit: neighboursMax })
      : await queryLists(views, jobList, { terms: scope, limit: neighboursMax })
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
