import type { SealedEvent } from './ports/eventStore.ts'
import type { Sha256 } from './ports/hash.ts'

/** What a seal is put on: an event whose JSON text has been made. */
export type Unsealed = Omit<SealedEvent, 'id' | 'hash'>

// NUL stands in no JSON text and in no name, so the joined fields cannot be read in two ways.
const separator = '\u0000'

/**
 * SHA-256 over the hash of the event before (revision 0: of the stream's name) and the exact stored text of
 * everything else. `jobId` is part of it through the stream's name.
 */
export const sealHash = (event: Unsealed, previousHash: string, sha256: Sha256): string =>
  sha256(
    [
      previousHash,
      event.type,
      event.schemaVersion,
      event.stream,
      event.revision,
      event.recordedAt,
      event.data,
      event.meta,
    ].join(separator),
  )

/** What stands before the first event of a stream. */
export const chainStart = (stream: string, sha256: Sha256): string => sha256(stream)

/** A UUIDv8 (RFC 9562) made of the first 122 free bits of the hash. */
export const idOfHash = (hash: string): string => {
  const variant = ((Number.parseInt(hash.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `${variant}${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-')
}

/** Seals events that follow one another, the first behind `previousHash`. */
export const seal = (events: readonly Unsealed[], previousHash: string, sha256: Sha256): readonly SealedEvent[] => {
  let previous = previousHash
  return events.map((event) => {
    previous = sealHash(event, previous, sha256)
    return { ...event, id: idOfHash(previous), hash: previous }
  })
}
