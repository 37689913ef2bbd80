import { z } from 'zod'
import { jobStates } from '../../domain/job/job.ts'
import { jobInListSchema } from '../client/schemas/jobInListSchema.ts'
import { listOf } from '../client/schemas/listOf.ts'
import { projectIdSchema } from '../client/schemas/submissionSchema.ts'
import { bounded, boundedSchema } from './bounded.ts'
import { handle } from './handle.ts'
import { eventText, shownEvent, shownEventSchema } from './shownEvent.ts'
import { jobText, shownJob, shownJobSchema } from './shownJob.ts'
import { tool } from './tool.ts'

const recentEvents = 10
const pageMax = 100
const pageDefault = 20

const annotations = { readOnlyHint: true, openWorldHint: false }

const getJob = tool({
  name: 'knovaryn_get_job',
  title: 'Look at a job',
  description:
    'State, stage, progress, last checkpoint, cost against the limits, error and the last events of one job, and what to do next. ' +
    'Use it to poll a job until its state is succeeded, failed, cancelled or paused: every few seconds is enough.',
  annotations,
  input: z.strictObject(handle),
  output: shownJobSchema.extend({ recentEvents: listOf(shownEventSchema).describe(`The last ${recentEvents} at most, oldest first`) }),
  async run(engine, { jobId }) {
    const job = await engine.status(jobId)
    const { items } = await engine.events(job.jobId, { afterRevision: Math.max(-1, job.revision - recentEvents), limit: recentEvents })
    return { value: { ...shownJob(job), recentEvents: items.map(shownEvent) }, text: jobText(job) }
  },
})

const shown = jobInListSchema.pick({
  jobId: true,
  projectId: true,
  type: true,
  state: true,
  stage: true,
  progress: true,
  errorCode: true,
  pauseReason: true,
  maximumCostUsd: true,
  spentCostUsd: true,
  callsMade: true,
  createdAt: true,
  finishedAt: true,
})

const listJobs = tool({
  name: 'knovaryn_list_jobs',
  title: 'List jobs',
  description:
    'Jobs, newest first, in pages: each job once, however states change meanwhile. Use it to find a job whose id you do not know. ' +
    'For the page after, call again with the same filter and nextCursor as cursor.',
  annotations,
  input: z.strictObject({
    projectId: projectIdSchema.exactOptional(),
    state: z.enum(jobStates).exactOptional(),
    type: z.string().min(1).max(200).exactOptional(),
    label: z.string().min(1).max(401).describe('name=value').exactOptional(),
    limit: z.int().min(1).max(pageMax).describe(`Default ${pageDefault}`).exactOptional(),
    cursor: z.string().min(1).max(4_096).exactOptional(),
  }),
  output: z.strictObject({ items: listOf(z.object({ ...shown.shape, labels: boundedSchema })), nextCursor: z.string().nullable() }),
  async run(engine, { limit = pageDefault, ...query }) {
    const { items, nextCursor } = await engine.list({ ...query, limit })
    const lines = items.map((job) => `${job.jobId} ${job.type} ${job.state} ${job.spentCostUsd} US dollars, ${job.createdAt}`)
    const more = nextCursor === null ? 'No more.' : 'More: call again with nextCursor as cursor.'
    return { value: { items: items.map((job) => ({ ...job, labels: bounded(job.labels) })), nextCursor }, text: [...lines, more].join('\n') }
  },
})

const getJobEvents = tool({
  name: 'knovaryn_get_job_events',
  title: 'Read the events of a job',
  description:
    'What happened to a job, event by event, in pages: calls and their cost, checkpoints, pauses, errors. Use it to find out why a ' +
    'job is where it is. For the page after, call again with nextAfterRevision as afterRevision. Long data are shortened.',
  annotations,
  input: z.strictObject({
    ...handle,
    afterRevision: z.int().min(-1).describe('Default -1: from the first event').exactOptional(),
    limit: z.int().min(1).max(pageMax).describe(`Default ${pageDefault}`).exactOptional(),
  }),
  output: z.strictObject({
    items: listOf(shownEventSchema),
    nextAfterRevision: z.int().nonnegative().nullable().describe('Null: these were the last so far'),
  }),
  async run(engine, { jobId, afterRevision = -1, limit = pageDefault }) {
    const page = await engine.events(jobId, { afterRevision, limit })
    const items = page.items.map(shownEvent)
    const nextAfterRevision = page.nextCursor === null ? null : Number(page.nextCursor)
    const more = nextAfterRevision === null ? 'No more so far.' : `More: call again with afterRevision ${nextAfterRevision}.`
    return { value: { items, nextAfterRevision }, text: [...items.map(eventText), more].join('\n') }
  },
})

/** For looking at jobs: they change nothing. */
export const lookTools = [getJob, listJobs, getJobEvents]
