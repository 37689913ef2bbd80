import { z } from 'zod'
import { RateLimits } from '../domain/job/events.ts'

/** How this process reaches one provider: the key goes to this base URL and to no other. */
export const ProviderConfig = RateLimits.extend({
  baseUrl: z.string().optional(),
  /** What is spoken there. Default: `anthropic` for the provider of that name, `openai` for every other. */
  protocol: z.enum(['openai', 'anthropic']).optional(),
  /** Name of the environment variable that holds the key. */
  apiKeyEnv: z
    .string()
    .regex(/^[A-Za-z_]\w*$/, 'must be the name of an environment variable, not a key itself')
    .optional(),
  /** Seconds for which the provider answers a repeated idempotency key with the stored answer. Default 0. */
  replaysForSeconds: z.number().nonnegative().optional(),
  /** True when the provider never bills an answer of status 5xx. Default false. */
  unbilled5xx: z.boolean().optional(),
  /**
   * Whether the count of input that is reported includes what was read from and written to a cache. Default: as the
   * protocol has it, which is `cached_inside` for openai and `cached_beside` for anthropic.
   */
  usageDialect: z.enum(['cached_inside', 'cached_beside']).optional(),
  /** Milliseconds the offline provider takes for an answer. Default 0. */
  latencyMs: z.number().nonnegative().optional(),
})
export type ProviderConfig = z.infer<typeof ProviderConfig>

/** Where a process finds its store and its providers. Everything is checked before anything is opened. */
export const Config = z.strictObject({
  /** `sqlite:DIR` or `memory:`. */
  store: z.string().default('sqlite:./.knovaryn'),
  /** `dir:DIR`; default: a folder of the store. */
  artifacts: z.string().optional(),
  /** Folder of `views.db`; default: that of the store. */
  data: z.string().optional(),
  providers: z.record(z.string(), ProviderConfig).default({}),
  /** Seconds a single provider call may take. Default 600. */
  callTimeoutSeconds: z.number().positive().default(600),
  /** Command for `sh -c` that is run whenever a job ends or pauses. */
  onEnd: z.string().optional(),
  /** Address that is told, by the conventions of Standard Webhooks, whenever a job ends or pauses. */
  webhook: z.string().optional(),
  /** Module with job definitions of one's own (`export default defineJob(...)` or an array). */
  jobs: z.string().optional(),
})
export type Config = z.infer<typeof Config>
