import type { Workplace } from '../../engine.ts'
import type { Call } from '../call.ts'

export type Verdict = 'ok' | 'warn' | 'fail'

/** What one check found. `advice` says what to do where it is not ok. */
export type Checked = {
  readonly check: string
  readonly verdict: Verdict
  readonly message: string
  readonly advice: string | null
}

/** `workplace` is null where the store could not be opened. */
export type Check = (call: Call, workplace: Workplace | null) => Promise<readonly Checked[]>

export const ok = (check: string, message: string): Checked => ({ check, verdict: 'ok', message, advice: null })
export const warn = (check: string, message: string, advice: string): Checked => ({ check, verdict: 'warn', message, advice })
export const fail = (check: string, message: string, advice: string): Checked => ({ check, verdict: 'fail', message, advice })
