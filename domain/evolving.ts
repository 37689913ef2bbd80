import { produce, type Draft } from 'immer'

/**
 * A fold from a reducer that changes a draft in place. One draft serves a whole run of events, so that folding
 * many costs one copy of what changed. The states it is given and those it answers with are never changed.
 */
export const evolving =
  <State extends object, Event>(initial: (event: Event) => State, change: (state: Draft<State>, event: Event) => void) =>
  (state: State | null, events: readonly Event[]): State | null => {
    const [first, ...others] = events
    if (first === undefined) return state
    const from = state ?? initial(first)
    const following = state === null ? others : events
    return produce(from, (draft) => {
      for (const event of following) change(draft, event)
    })
  }
