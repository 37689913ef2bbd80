import type { JobState } from '../../domain/job/job.ts'
import { painter, type Style } from './paint.ts'
import type { Shell } from './shell.ts'

const ofState: Readonly<Partial<Record<JobState, Style>>> = {
  succeeded: 'green',
  failed: 'red',
  paused: 'yellow',
  cancelled: 'yellow',
  retry_wait: 'yellow',
}

export const styleOfState = (state: JobState): Style | null => ofState[state] ?? null

/** For standard output. */
export const colouredState = (state: JobState, { stdout, env }: Shell): string => {
  const style = styleOfState(state)
  return style === null ? state : painter(stdout, env)(state, style)
}

const ofVerdict = { ok: 'green', warn: 'yellow', fail: 'red', BROKEN: 'red' } as const

/** For standard output. */
export const colouredVerdict = (verdict: keyof typeof ofVerdict, { stdout, env }: Shell): string =>
  painter(stdout, env)(verdict, ofVerdict[verdict])
