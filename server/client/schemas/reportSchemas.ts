import { z } from 'zod'
import { Content, Instant } from '../../../domain/job/events.ts'
import { listOf } from './listOf.ts'

const Count = z.int().nonnegative()

const finding = z
  .strictObject({
    rule: z.string(),
    message: z.string(),
    jobId: z.string().exactOptional(),
    stream: z.string().exactOptional(),
    revision: z.int().exactOptional(),
    position: z.string().exactOptional(),
  })
  .meta({ id: 'Finding' })

/** What a check found; no findings: everything holds. */
export const auditReportSchema = z
  .strictObject({ jobs: Count, events: Count, artifacts: Count, findings: listOf(finding) })
  .meta({ id: 'AuditReport' })

export const projectionStatusSchema = z
  .strictObject({
    name: z.string(),
    version: z.int(),
    position: z.string().nullable(),
    head: z.string(),
    upToDate: z.boolean(),
    documents: Count,
    served: z.strictObject({ version: z.int(), stale: z.boolean() }),
  })
  .meta({ id: 'ProjectionStatus' })

/** A view beside a fresh fold of the log. */
export const projectionCheckSchema = z
  .strictObject({
    name: z.string(),
    version: z.int(),
    documents: Count,
    equal: z.boolean(),
    differs: z.strictObject({ key: z.string(), stored: z.string().nullable(), folded: z.string().nullable() }).nullable(),
  })
  .meta({ id: 'ProjectionCheck' })

/** What a stage has recorded, and what was found to be lost of it. */
export const checkpointSchema = z
  .strictObject({
    kind: z.enum(['recorded', 'stage_completed', 'invalidated']),
    stage: z.string(),
    /** Null: the stage as a whole. */
    key: z.string().nullable(),
    value: Content.nullable(),
    at: Instant,
    revision: Count,
  })
  .meta({ id: 'Checkpoint' })
