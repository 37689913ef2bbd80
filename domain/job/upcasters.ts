import type { Upcasters } from '../upcast.ts'

/** One entry an event type whose shape has changed since it was released. None has yet. */
export const jobUpcasters: Upcasters = {}
