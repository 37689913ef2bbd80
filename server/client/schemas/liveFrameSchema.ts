import { z } from 'zod'
import { jobEventSchema } from './jobEventSchema.ts'

const position = z.string().describe('Opaque: a place in the log of this server. Follow again from the last one given.')

export const eventFrameSchema = z
  .strictObject({ kind: z.literal('event'), position, event: jobEventSchema })
  .meta({ id: 'EventFrame', description: 'An event of the query: each exactly once, in log order.' })

export const caughtUpFrameSchema = z.strictObject({ kind: z.literal('caught_up'), position }).meta({
  id: 'CaughtUpFrame',
  description:
    'All events up to this place have been told, or are not of the query. Comes where what was in the log ends, and every 10 seconds while there is nothing to tell.',
})

export const errorFrameSchema = z
  .strictObject({ kind: z.literal('error'), code: z.string(), message: z.string() })
  .meta({ id: 'ErrorFrame', description: 'The last frame: why the server ends this.' })
