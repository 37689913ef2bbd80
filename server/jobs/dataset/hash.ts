import { createHash } from 'node:crypto'

/** SHA-256 as hex, of bytes or of a text's UTF-8. */
export const hashOf = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')
