import { z } from 'zod'
import { InvalidInputError } from '../domain/errors.ts'
import type { Sha256 } from '../domain/ports/hash.ts'
import type { ListPlace, ViewStore } from '../domain/ports/viewStore.ts'
import { jobList, ListedJob } from '../projections/jobList.ts'
import { type JobFilter, jobListOf } from '../projections/jobLists.ts'
import type { JobInList, JobListQuery, Page } from './engine.ts'
import { queryLists } from './queryLists.ts'

const limitDefault = 50
const limitMax = 500

/** Where the next page starts, and which filter it belongs to: a cursor serves no other list. */
const Cursor = z.strictObject({ filter: z.string(), sort: z.string(), key: z.string() })

/**
 * A page of jobs, newest first, in an order that no later event changes. Raises `InvalidInputError` for a limit out
 * of range, a label that is not `name=value`, and a cursor that was altered, cut or made for another filter.
 */
export const pageOfJobs = async (views: ViewStore, query: JobListQuery, sha256: Sha256): Promise<Page<JobInList>> => {
  const filter = filterOf(query)
  const limit = limitOf(query)
  const owners = ownersOf(query)
  const filterMark = sha256(JSON.stringify(owners === null ? filter : [filter, owners])).slice(0, 16)
  const terms = owners === null ? [jobListOf(filter).term] : owners.map((projectId) => jobListOf({ ...filter, projectId }).term)
  const { passes } = jobListOf(filter)
  const items: JobInList[] = []
  // Of the last job on the page: one more is looked for, so that the last page says that it is.
  let last: ListPlace = { sort: '', key: '' }
  let after = query.cursor === undefined ? undefined : placeOf(query.cursor, filterMark)
  for (;;) {
    const documents = await queryLists(views, jobList, { terms, after, limit: limit + 1 })
    for (const document of documents) {
      after = { sort: document.sort, key: document.key }
      const { fold: _, ...job } = ListedJob.parse(JSON.parse(document.value))
      if (!passes(job)) continue
      if (items.length === limit) return { items, nextCursor: cursorOf(filterMark, last) }
      items.push(job)
      last = after
    }
    if (documents.length <= limit) return { items, nextCursor: null }
  }
}

const filterOf = (query: JobListQuery): JobFilter => {
  const { projectId, state, type, label } = query
  const named = label === undefined ? null : /^([^=]+)=(.*)$/s.exec(label)
  if (label !== undefined && named === null) {
    throw new InvalidInputError(`label "${label}" is not of the form name=value`, { label })
  }
  return {
    ...(projectId === undefined ? {} : { projectId }),
    ...(state === undefined ? {} : { state }),
    ...(type === undefined ? {} : { type }),
    ...(named === null ? {} : { labels: { [named[1] ?? '']: named[2] ?? '' } }),
  }
}

/** The projects whose jobs are asked for, or null where that is left to the filter. */
const ownersOf = ({ projectId, projectIds }: JobListQuery): readonly string[] | null => {
  if (projectIds === undefined) return null
  const owners = [...new Set(projectIds)].toSorted()
  return projectId === undefined ? owners : owners.filter((owner) => owner === projectId)
}

const limitOf = (query: JobListQuery): number => {
  const { limit = limitDefault } = query
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= limitMax) return limit
  throw new InvalidInputError(`limit ${limit} is not a whole number from 1 to ${limitMax}`, { limit })
}

const cursorOf = (filter: string, place: ListPlace): string =>
  Buffer.from(JSON.stringify({ filter, sort: place.sort, key: place.key })).toString('base64url')

const placeOf = (cursor: string, filter: string): ListPlace => {
  const parsed = Cursor.safeParse(jsonOrNull(Buffer.from(cursor, 'base64url').toString('utf8')))
  if (!parsed.success) {
    throw new InvalidInputError('the cursor is not one that a page of jobs gave: it was altered or cut', { cursor })
  }
  if (parsed.data.filter !== filter) {
    throw new InvalidInputError('the cursor belongs to a list with another filter: use the filter it was given for', {
      cursor,
    })
  }
  return { sort: parsed.data.sort, key: parsed.data.key }
}

const jsonOrNull = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
