import { createHash } from 'node:crypto'

const lengthMax = 100

/**
 * The name of a project's folder: one for each id, and never a way out of the root. Letters that some file
 * systems take for one another (upper case, composed and decomposed) are spelled out.
 */
export const projectFolder = (projectId: string): string => {
  const bytes = [...Buffer.from(projectId)]
  const name = bytes.map((byte) => (isPlain(byte) ? String.fromCodePoint(byte) : spelledOut(byte))).join('')
  // A spelled-out byte is two hex digits, so neither of these is the name of another id.
  if (name === '') return '%'
  return name.length <= lengthMax ? name : `%h${createHash('sha256').update(projectId).digest('hex')}`
}

const spelledOut = (byte: number): string => `%${byte.toString(16).padStart(2, '0')}`

const isPlain = (byte: number): boolean => /[a-z0-9_-]/.test(String.fromCodePoint(byte))
