import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Sha256 } from '../../domain/ports/hash.ts'

/** A new token: whoever has this text has its rights. `id` says which one it is, and opens nothing. */
export const newTokenText = (): { readonly id: string; readonly text: string } => {
  const id = randomBytes(8).toString('hex')
  return { id, text: `kno_${id}_${randomBytes(32).toString('base64url')}` }
}

const shape = /^kno_([0-9a-f]{16})_[A-Za-z0-9_-]{43}$/
// Long enough for every token. Nobody makes the server hash megabytes.
const lengthMax = 64

/** The id that the text names, whether or not there is such a token; null for what is no token at all. */
export const idOfTokenText = (text: string): string | null => (text.length > lengthMax ? null : (shape.exec(text)?.[1] ?? null))

const nobody = Buffer.alloc(32)

/** Whether this is the text that was hashed. The same work, whatever the text is and where there is no hash. */
export const isTokenOf = (hash: string | undefined, text: string, sha256: Sha256): boolean => {
  const given = Buffer.from(sha256(text.slice(0, lengthMax + 1)), 'hex')
  const isSame = timingSafeEqual(given, hash === undefined ? nobody : Buffer.from(hash, 'hex'))
  return isSame && hash !== undefined
}
