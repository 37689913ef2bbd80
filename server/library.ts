import { defineProjection, type Projection } from '../projections/projection.ts'
import { openWorkplace } from './compose.ts'
import { Config } from './config.ts'
import { defineJob, type JobDefinition } from './defineJob.ts'
import type { Engine, Workplace } from './engine.ts'
import type { LogLine } from './telemetry.ts'

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

export { defineJob, defineProjection }
export type { Engine, JobDefinition, Projection, Workplace }
