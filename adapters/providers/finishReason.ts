import { shortened, wellFormed } from './wellFormed.ts'

const unitsMax = 100

/** Why an answer ended, as the provider says it: shortened, and null where it says nothing. */
export const finishReason = (said: unknown): string | null =>
  typeof said === 'string' ? shortened(wellFormed(said), unitsMax) : null
