import type { Row } from './openDatabase.ts'
import { damage } from './trouble.ts'

/** The text in that column. Anything else was not written by this program, and counts as damage. */
export const textOf = (row: Row | undefined, column: number): string => {
  const value = row?.[column]
  if (typeof value !== 'string') throw damage(`column ${column} holds ${typeof value} where text belongs`)
  return value
}

/** The number in that column. Anything else counts as damage. */
export const numberOf = (row: Row | undefined, column: number): number => {
  const value = row?.[column]
  if (typeof value !== 'number') throw damage(`column ${column} holds ${typeof value} where a number belongs`)
  return value
}

/** The list of texts that stands in that column as JSON. Anything else counts as damage. */
export const textsOf = (row: Row, column: number): readonly string[] => {
  const parsed = parsedOrNull(textOf(row, column))
  if (!Array.isArray(parsed)) throw damage(`column ${column} holds no list`)
  return parsed.map((_, index) => textOf(parsed, index))
}

const parsedOrNull = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
