import type { JobId } from '../domain/ids.ts'

/** How jobs are worked in this process. */
export type WorkOptions = {
  /** Unique by default. */
  readonly workerId?: string
  /** Jobs worked at one time. Default 4. */
  readonly slots?: number
  /** Default 60 000. */
  readonly leaseMs?: number
  /** Until nothing is due any more, instead of until the signal aborts. */
  readonly once?: boolean
  /** Only this job: until it has ended or paused. */
  readonly only?: JobId
  /** How long open work may take to end after the signal has aborted. Default 30 000. */
  readonly drainMs?: number
}

/** How this process serves others. */
export type ServeOptions = Pick<WorkOptions, 'slots' | 'leaseMs' | 'drainMs'> & {
  /** Address or name. One that other machines can reach is refused while no token was ever made. */
  readonly host: string
  /** 0: any that is free. */
  readonly port: number
  /** Workers beside it in this process, each with `slots`. Default 1. */
  readonly workers?: number
  /** Of one token. Default 6 000. */
  readonly requestsPerMinute?: number
  /** Told once the server can be called. */
  onListening(url: string): void
}
