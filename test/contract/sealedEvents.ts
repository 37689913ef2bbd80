import { sha256 } from '../../adapters/system/sha256.ts'
import type { SealedEvent } from '../../domain/ports/eventStore.ts'
import { chainStart, seal } from '../../domain/seal.ts'

type Wanted = Partial<Pick<SealedEvent, 'type' | 'data' | 'meta'>>

/** Sealed events of one stream, the first at revision `from`. A test says only what it is about. */
export const sealedEvents = (stream: string, wanted: number | readonly Wanted[], from = 0): readonly SealedEvent[] => {
  const each: readonly Wanted[] = typeof wanted === 'number' ? Array.from({ length: wanted }, () => ({})) : wanted
  const unsealed = each.map(({ type = 'JobLogged', data, meta = '{"projectId":"default"}' }, index) => ({
    stream,
    revision: from + index,
    type,
    schemaVersion: 1,
    recordedAt: '2026-01-01T00:00:00.000Z',
    data: data ?? `{"line":"${stream} ${from + index}"}`,
    meta,
  }))
  return seal(unsealed, chainStart(`${stream}@${from}`, sha256), sha256)
}

/** The same events with other bytes, and so with other ids. */
export const otherEvents = (stream: string, count: number, from = 0): readonly SealedEvent[] =>
  sealedEvents(stream, Array.from({ length: count }, (_, index) => ({ data: `{"other":${index}}` })), from)
