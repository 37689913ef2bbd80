import type { Declared } from '../parsedText.ts'
import { complaint } from './wrongDocument.ts'

export type FrontMatter = {
  readonly declared: Declared
  /** The text after it: all of it where there is none. */
  readonly body: string
  readonly notes: readonly string[]
}

const block = /^---[ \t]*\n((?:[^\n]*\n)*?)(?:---|\.\.\.)[ \t]*(?:\n|$)/
/** What is longer is a text between two rules. */
const charactersMax = 65_536

/**
 * What a Markdown text says of itself in a YAML block at its beginning. Values are as they are written there, names in
 * lower case; lists are joined by commas, and what is nested is left out. A block that is no YAML stays in the text.
 */
export const frontMatter = async (text: string): Promise<FrontMatter> => {
  const [whole, source] = text.startsWith('---') ? (block.exec(text.slice(0, charactersMax)) ?? []) : []
  if (whole === undefined || source === undefined) return { declared: {}, body: text, notes: [] }
  const { parse } = await import('yaml')
  try {
    // `failsafe` leaves every scalar as it is written: `1.10` is no number here.
    const value: unknown = parse(source, { schema: 'failsafe', logLevel: 'error' })
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return { declared: {}, body: text, notes: [] }
    return { declared: declaredIn(value), body: text.slice(whole.length), notes: [] }
  } catch (error) {
    return { declared: {}, body: text, notes: [`its front matter is no YAML and stays in the text: ${complaint(error)}`] }
  }
}

const declaredIn = (value: object): Declared =>
  Object.fromEntries(
    Object.entries(value).flatMap(([name, said]: [string, unknown]) => {
      const text = written(said)
      return text === null ? [] : [[name.trim().toLowerCase(), text]]
    }),
  )

const written = (value: unknown): string | null => {
  if (typeof value === 'string') return value
  if (value === null) return ''
  return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value.join(', ') : null
}
