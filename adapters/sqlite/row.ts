import type { Row } from './openDatabase.ts'

/** The text in that column. Raises for anything else: the file was written by another hand. */
export const textOf = (row: Row, column: number): string => {
  const value = row[column]
  if (typeof value !== 'string') throw new TypeError(`column ${column} holds ${typeof value} where text belongs`)
  return value
}

/** The number in that column. Raises for anything else. */
export const numberOf = (row: Row, column: number): number => {
  const value = row[column]
  if (typeof value !== 'number') throw new TypeError(`column ${column} holds ${typeof value} where a number belongs`)
  return value
}

/** The list of texts that stands in that column as JSON. Raises for anything else. */
export const textsOf = (row: Row, column: number): readonly string[] => {
  const parsed: unknown = JSON.parse(textOf(row, column))
  if (!Array.isArray(parsed)) throw new TypeError(`column ${column} holds no list`)
  return parsed.map((_, index) => textOf(parsed, index))
}
