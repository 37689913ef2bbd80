import { InvalidInputError } from './errors.ts'
import { beforeAll, type Position } from './ports/eventStore.ts'

const digits = 16

/** The position of a log that numbers its events from 1: padded, so that lexical order is log order. */
export const positionOf = (number: number): Position =>
  number === 0 ? beforeAll : String(number).padStart(digits, '0')

/** Raises `InvalidInputError` for what this store never gave out. */
export const numberOf = (position: Position): number => {
  if (position === beforeAll) return 0
  if (!/^\d{16}$/.test(position)) throw new InvalidInputError('not a position of this log', { position })
  return Number(position)
}
