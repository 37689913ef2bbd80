import { z } from 'zod'

/** Why a request was not served, by RFC 9457. `code` is stable, `details` name what `detail` speaks of. */
export const problemSchema = z
  .strictObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string(),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Problem' })
export type Problem = z.output<typeof problemSchema>
