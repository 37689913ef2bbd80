import { z } from 'zod'

/** A whole number in a query, where everything is text. */
export const queryNumber = (min: number, max: number) =>
  z.preprocess((text) => (typeof text === 'string' && /^\d{1,16}$/.test(text) ? Number(text) : text), z.int().min(min).max(max))
