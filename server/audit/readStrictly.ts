import type { JobEvent, UnknownEvent } from '../../domain/job/events.ts'
import { readEvent } from '../../domain/job/readEvent.ts'
import type { StoredEvent } from '../../domain/ports/eventStore.ts'
import { readStrictJson } from '../../domain/strictJson.ts'

// Whatever the strict reader refuses has one of these in its text. It costs more than all the rest of an audit, so
// only such text is given to it.
const suspicious = /__proto__|\\u|[\uD800-\uDFFF]|[:,[]\s*-?(?:\d{16}|[\d.]+[eE])/

/** Reads an event and changes nothing silently. Raises for text or data that no program of this log has written. */
export const readStrictly = (stored: StoredEvent): JobEvent | UnknownEvent => {
  if (suspicious.test(stored.data)) readStrictJson(stored.data)
  if (suspicious.test(stored.meta)) readStrictJson(stored.meta)
  return readEvent(stored)
}
