import { StoreUnavailable } from '../../domain/errors.ts'

/** What keeps a database from answering. `passing`: it is soon over, as when another connection is at work. */
export type Trouble = { readonly passing: boolean; readonly code: string; readonly sentence: string }

const passing = /^SQLITE_(BUSY|LOCKED|PROTOCOL)/

const sentences: readonly (readonly [RegExp, string])[] = [
  [passing, 'another process keeps it locked'],
  [/^SQLITE_FULL/, 'the disk is full: free some space'],
  [/^SQLITE_READONLY/, 'it cannot be written: make the file and its folder writable'],
  [/^SQLITE_CANTOPEN/, 'it cannot be opened: check that its folder exists and is readable and writable'],
  [/^SQLITE_(IOERR|PERM|AUTH|NOMEM)/, 'reading or writing it failed: check the disk, and that the file may be written'],
  [/^SQLITE_(CORRUPT|NOTADB)/, 'the file is damaged: restore it from a backup'],
]

/** What the driver's error says about the file, or null when the error is a fault of this program. */
export const troubleOf = (error: unknown): Trouble | null => {
  const code = codeOf(error)
  const [, sentence] = sentences.find(([pattern]) => pattern.test(code)) ?? []
  if (sentence === undefined) return null
  return { passing: passing.test(code) || (error instanceof Error && tryAgain in error), code, sentence }
}

const tryAgain = Symbol('tryAgain')

/** The same error, as one that does not come again. */
export const again = (error: unknown): unknown =>
  error instanceof Error ? Object.assign(error, { [tryAgain]: true }) : error

export const isDamage = ({ code }: Trouble): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(code)

/** What SQLite would say, had it seen for itself that the file is damaged. */
export const damage = (what: string): Error => Object.assign(new Error(what), { code: 'SQLITE_CORRUPT' })

export const unavailable = (path: string, { code, sentence }: Trouble): StoreUnavailable =>
  new StoreUnavailable(`${path}: ${sentence} (${code})`, { cause: code })

/** What SQLite would say of a lock that somebody holds: `patiently` then tries again. */
export const busy = (path: string): Error => Object.assign(new Error(`${path} is locked`), { code: 'SQLITE_BUSY' })

const codeOf = (error: unknown): string => {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return ''
  // Our statements name only what our schema makes: without it, the file is not whole.
  return /^no such (table|column)/.test(error.message) ? 'SQLITE_CORRUPT' : error.code
}
