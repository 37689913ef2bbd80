import { z } from 'zod'

const printable = /^[\x20-\x7e]+$/

/** Makes the repeat of a request known. */
export const idempotencyHeader = (lengthMax: number) =>
  z.looseObject({
    'idempotency-key': z.string().min(1).max(lengthMax).regex(printable, 'must be printable ASCII').optional(),
  })
