import type { EventType, UnknownEvent } from '../../domain/job/events.ts'
import { JobId } from '../../domain/ids.ts'
import type { LogEvent, Projection } from '../../projections/projection.ts'
import { type GivenEvent, instant, projectId } from '../support/controls.ts'

/** Written by people, or by whoever sees that an owner is gone: without a fencing token. */
const ownerless: ReadonlySet<EventType> = new Set([
  'JobSubmitted',
  'LeaseExpired',
  'BackoffElapsed',
  'JobRetried',
  'PauseRequested',
  'JobResumed',
  'CancellationRequested',
  'ProviderCallOrphaned',
  'ProviderCallReconciled',
  'BudgetRaised',
])
const endings: ReadonlySet<EventType> = new Set(['LeaseExpired', 'LeaseReleased', 'RetryScheduled', 'JobPaused'])

export const jobIdOf = (number: number) => JobId.parse(number.toString(16).padStart(32, '0'))

/** A newer program's event, in place of a known one. */
export const newer = 'newer'

/**
 * The events as a log gives them back: one second apart, at positions from `from`, with the token of the lease of
 * the moment on everything that an owner writes.
 */
export const logged = (
  given: readonly (GivenEvent | typeof newer)[],
  { job = 1, from = 1 }: { job?: number; from?: number } = {},
): readonly LogEvent[] => {
  let token: number | undefined
  return given.map((event, revision): LogEvent => {
    const place = {
      id: `event-${from + revision}`,
      schemaVersion: 1,
      jobId: jobIdOf(job),
      revision,
      position: String(from + revision).padStart(16, '0'),
      recordedAt: instant(from + revision),
      hash: '',
    }
    if (event === newer) {
      return { ...place, type: 'Unknown', storedType: 'JobTeleported', data: {}, meta: {} } satisfies UnknownEvent
    }
    if (event.type === 'JobLeased') token = event.data.token
    const leaseToken = event.token ?? (ownerless.has(event.type) ? undefined : token)
    if (endings.has(event.type)) token = undefined
    const meta = { projectId, actor: 'ann', commandId: `command-${from + revision}` }
    const { token: _token, ...plain } = event
    return { ...plain, ...place, meta: leaseToken === undefined ? meta : { ...meta, leaseToken } }
  })
}

/** All documents after these events, by key. Every document on the way must fit its schema and be plain JSON. */
export const projected = <View>(projection: Projection<View>, events: readonly LogEvent[]): Map<string, View> => {
  const views = new Map<string, View>()
  for (const event of events) {
    const key = projection.keyOf(event)
    if (key === null) continue
    const view = projection.project(views.get(key) ?? null, event)
    if (view === null) views.delete(key)
    else views.set(key, projection.schema.parse(view))
  }
  return views
}

/** The documents of one list, in its order. */
export const listed = <View>(
  projection: Projection<View>,
  events: readonly LogEvent[],
  term: string,
): readonly View[] =>
  [...projected(projection, events)]
    .map(([key, view]) => ({ key, view, ...projection.place(view) }))
    .filter(({ terms }) => terms.includes(term))
    .toSorted((left, right) => compare(left.sort, right.sort) || compare(left.key, right.key))
    .map(({ view }) => view)

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)
