import type { Limits } from '../../domain/job/events.ts'
import { options } from './options.ts'
import { present } from './present.ts'
import type { Settings } from './settings.ts'

/** The limits that were given anywhere, and no other. */
export const givenLimits = ({ given }: Settings): Partial<Limits> => ({
  ...present('maximumCostUsd', given(options.budgetUsd)),
  ...present('maximumCalls', given(options.maxCalls)),
  ...present('maximumInputTokens', given(options.maxInputTokens)),
  ...present('maximumOutputTokens', given(options.maxTotalOutputTokens)),
  ...present('maximumDurationSeconds', given(options.maxDuration)),
  ...present('maximumExamples', given(options.maxExamples)),
})
