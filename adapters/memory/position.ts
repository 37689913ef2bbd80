import { InvalidInputError } from '../../domain/errors.ts'
import { beforeAll } from '../../domain/ports/eventStore.ts'
import type { Position } from '../../domain/ports/eventStore.ts'

const digits = 16

/** Padded, so that lexical order is log order. Events are numbered from 1. */
export const positionOf = (number: number): Position =>
  number === 0 ? beforeAll : String(number).padStart(digits, '0')

/** Raises `InvalidInputError` for what this store never gave out. */
export const numberOf = (position: Position): number => {
  if (position === beforeAll) return 0
  if (!/^\d{16}$/.test(position)) throw new InvalidInputError('not a position of this log', { position })
  return Number(position)
}
