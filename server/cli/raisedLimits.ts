import type { RaisedLimits } from '../../domain/job/events.ts'
import type { JobDocument } from '../../domain/job/document.ts'
import { nanoUsd } from '../../domain/money.ts'

const counted = [
  'maximumCalls',
  'maximumInputTokens',
  'maximumOutputTokens',
  'maximumDurationSeconds',
  'maximumExamples',
] as const

/** Of the limits given, those above what the job has now. No cap (null) is above every number. */
export const raisedLimits = (budget: JobDocument['budget'], given: RaisedLimits): RaisedLimits => {
  const raised: { -readonly [Name in keyof RaisedLimits]: RaisedLimits[Name] } = {}
  const { maximumCostUsd: now } = budget
  const next = given.maximumCostUsd
  if (now !== null && typeof next === 'string' && nanoUsd(next) > nanoUsd(now)) raised.maximumCostUsd = next
  for (const name of counted) {
    const [current, wanted] = [budget[name], given[name]]
    if (current !== null && typeof wanted === 'number' && wanted > current) raised[name] = wanted
  }
  return raised
}
