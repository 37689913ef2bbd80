import { z } from 'zod'
import { type EventType, eventData } from '../../../domain/job/events.ts'
import { nearest } from '../../../domain/nearest.ts'
import { preview } from '../../../domain/strictJson.ts'
import { projectIdSchema } from '../../client/schemas/submissionSchema.ts'
import type { Grant } from '../../access.ts'
import type { Engine, LiveQuery } from '../../engine.ts'

const isEventType = (type: string): type is EventType => Object.hasOwn(eventData, type)
const eventTypes = Object.keys(eventData).filter(isEventType)

const EventTypeName = z.enum(eventTypes, {
  error: ({ input }) => {
    const given = String(input)
    const meant = nearest(given, eventTypes)
    return `names ${JSON.stringify(preview(given, 100))}, which is no type of event${meant === null ? '' : `: did you mean ${meant}?`}`
  },
})

/** Which events to follow, as a query says it. */
export const liveQuerySchema = z.strictObject({
  after: z
    .string()
    .max(200)
    .describe('A position that was given out before; `start`, or nothing behind the sign: from the first event; `end`, the default: from now on')
    .exactOptional(),
  jobId: z.string().min(1).max(100).describe('id of a job, or a unique prefix of one').exactOptional(),
  projectId: z
    .union([projectIdSchema.transform((id) => [id]), z.array(projectIdSchema).max(100)], { error: 'must be the name of a project, at most 100 times' })
    .describe('a project; may stand several times')
    .exactOptional(),
  types: z
    .union([z.string(), z.array(z.string())])
    .transform((given) => [given].flat().flatMap((names) => names.split(',')))
    .pipe(z.array(EventTypeName).max(1_000))
    .describe('types of events, divided by commas')
    .exactOptional(),
})

type LiveQueryText = z.output<typeof liveQuerySchema>

/** The query with its job found and its projects known, so that it means the same however often it is asked. */
export const liveQueryOf = async (asked: LiveQueryText, engine: Engine, grant: Grant): Promise<LiveQuery> => {
  const { after, jobId, types } = asked
  const projectIds = asked.projectId ?? grant.projects
  return {
    ...(after === undefined ? {} : { after }),
    ...(types === undefined ? {} : { types }),
    ...(projectIds === null ? {} : { projectIds }),
    ...(jobId === undefined ? {} : { jobId: await engine.resolve(jobId) }),
  }
}
