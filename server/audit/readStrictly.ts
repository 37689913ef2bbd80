import type { JobEvent, UnknownEvent } from '../../domain/job/events.ts'
import { readEvent } from '../../domain/job/readEvent.ts'
import type { StoredEvent } from '../../domain/ports/eventStore.ts'
import { readStrictJson } from '../../domain/strictJson.ts'

/** Reads an event and changes nothing silently. Raises for text or data that no program of this log has written. */
export const readStrictly = (stored: StoredEvent): JobEvent | UnknownEvent => {
  const event = readEvent(stored)
  if (!isPlain(stored.data, event.data)) readStrictJson(stored.data)
  if (!isPlain(stored.meta, event.meta)) readStrictJson(stored.meta)
  return event
}

const hostile = /__proto__|\\u|[\uD800-\uDFFF]/

/**
 * What is written back as it was read has lost nothing on the way: such text need not be read a second time by the
 * strict reader, which costs more than the rest of an audit.
 */
const isPlain = (text: string, value: unknown): boolean => !hostile.test(text) && JSON.stringify(value) === text
