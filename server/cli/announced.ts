import { BudgetExceededError } from '../../domain/errors.ts'
import type { Engine, Estimate, Submission } from '../engine.ts'
import type { Call } from './call.ts'
import { estimateLine, mayText, overText } from './estimateText.ts'
import { options } from './options.ts'
import { plainText } from './plainText.ts'

/**
 * Says on stderr what a job is going to take before it is submitted, and answers the submission with that. Says
 * nothing of a job that is there already. Raises `BudgetExceededError` for one that cannot fit its limits, unless
 * that is allowed.
 */
export const announced = async (engine: Engine, submission: Submission, call: Call): Promise<Submission> => {
  if ((await engine.find(submission)) !== null) return submission
  const estimate = await engine.estimate(submission).catch(async (error: unknown) => {
    // What stands in the way of an estimate is for the job itself to meet, and to keep.
    await say(call, `no estimate: ${error instanceof Error ? error.message : String(error)}`)
    return null
  })
  if (estimate === null) return submission
  const line = estimateLine(estimate)
  if (line !== null) await say(call, line)
  if (estimate.exceeds.length > 0) await refuseUnlessAllowed(estimate, call)
  for (const over of estimate.mayExceed) await say(call, mayText(over))
  return estimate.total.calls === 0 ? submission : { ...submission, estimatedCostUsd: estimate.total.costUsd.worst }
}

const say = async ({ shell }: Call, sentence: string): Promise<void> => {
  await shell.stderr.write(`${plainText(sentence)}\n`)
}

const refuseUnlessAllowed = async ({ exceeds, jobId }: Estimate, call: Call): Promise<void> => {
  const over = exceeds.map(overText).join('; ')
  if (call.given(options.allowOverBudget) ?? false) return say(call, `It cannot fit, and will pause: ${over}.`)
  throw new BudgetExceededError(
    'over_budget',
    `the job cannot fit its limits: ${over}. Raise them, or have it pause there with --allow-over-budget`,
    { jobId, exceeds },
  )
}
