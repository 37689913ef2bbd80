import type { JobDocument } from '../domain/job/document.ts'
import type { JobEvent } from '../domain/job/events.ts'
import { defineProjection, type Projection } from '../projections/projection.ts'
import { openWorkplace } from './compose.ts'
import { Config } from './config.ts'
import { type CallAnswer, defineJob, Interrupted, type JobDefinition, type Stage, type StageContext } from './defineJob.ts'
import type { Engine, Estimate, Submission, Workplace } from './engine.ts'
import type { LogLine } from './telemetry.ts'
import type { WorkOptions } from './workOptions.ts'

/**
 * Opens an engine on a store of this process, with job types of one's own beside the shipped ones. `config` is what
 * a configuration file holds; what is not given has its default. Raises `InvalidInputError` and `StoreUnavailable`.
 */
export const openEngine = (
  config: Partial<Config> & { readonly definitions?: readonly JobDefinition[]; log?(line: LogLine): void } = {},
): Promise<Workplace> => {
  const { definitions = [], log = () => {}, ...rest } = config
  return openWorkplace(Config.parse(rest), { env: process.env, log, definitions })
}

export { defineJob, defineProjection, Interrupted }
export { followEvents, type FollowOptions } from './client/followEvents.ts'
export type { FollowedFrame } from './client/liveFrame.ts'
export { ArtifactRef } from '../domain/job/events.ts'
export {
  BudgetExceededError,
  EngineError,
  ForbiddenError,
  IdempotencyConflictError,
  InvalidInputError,
  JobStateError,
  LeaseLostError,
  PolicyBlockError,
  ProviderError,
  RevisionConflict,
  StoreUnavailable,
} from '../domain/errors.ts'
export type { CallAnswer, Engine, Estimate, JobDefinition, JobDocument, JobEvent, Projection, Stage, StageContext, Submission, WorkOptions, Workplace }
