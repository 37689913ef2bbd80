import { type CompletionHook, endingTypes, type HookAnswer } from '../../domain/ports/completionHook.ts'
import { chooseDelay, type RetryPolicy } from '../../domain/retry.ts'
import type { EndingRef } from './dueEnding.ts'

/** About an hour in all. */
export const hookRetryPolicy: RetryPolicy = { delayMsMin: 1_000, delayMsMax: 300_000, attemptsMax: 20 }

/** The wait before another try after so many that failed; null when there is to be none. */
export const nextDelayMs = (failed: number, { askedMs }: HookAnswer, luck: number): number | null =>
  failed >= hookRetryPolicy.attemptsMax ? null : chooseDelay({ attempt: failed, askedMs, luck }, hookRetryPolicy).delayMs

/** Such as `webhook https://x could not be told of job … (job.failed): answered 500`. */
export const toldText = (hook: CompletionHook, ending: EndingRef, { taken, said }: HookAnswer): string =>
  `${hook.title} ${taken ? 'was' : 'could not be'} told of job ${ending.jobId} (${endingTypes[ending.event]})` +
  (said === '' ? '' : `: ${said}`)

export const secondsText = (ms: number): string => `${Math.ceil(ms / 1_000)} s`
