import { randomInt, randomUUID } from 'node:crypto'
import type { Random } from '../../domain/ports/random.ts'

// The widest range that `randomInt` draws from is 2^48 - 1.
const steps = 2 ** 47

export const systemRandom = (): Random => ({
  luck: () => randomInt(steps) / steps,
  id: () => randomUUID(),
})
