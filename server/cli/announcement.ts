import { BudgetExceededError } from '../../domain/errors.ts'
import type { JobDocument } from '../../domain/job/document.ts'
import type { Engine, Estimate, Submission } from '../engine.ts'
import { asker } from './asker.ts'
import type { Call } from './call.ts'
import { estimateLine, mayText, overText } from './estimateText.ts'
import { options } from './options.ts'
import { plainText } from './plainText.ts'

/** A submission with its estimate, and what people are told of that. */
export type Announcement = { readonly submission: Submission; readonly sentences: readonly string[] }

/**
 * Estimates what is about to be submitted. There is nothing to say of a job that is there already. Raises
 * `BudgetExceededError` for one that cannot fit its limits, unless that is allowed.
 */
export const announcementOf = async (engine: Engine, submission: Submission, call: Call): Promise<Announcement> => {
  if ((await engine.find(submission)) !== null) return { submission, sentences: [] }
  let estimate: Estimate
  try {
    estimate = await engine.estimate(submission)
  } catch (error) {
    // What stands in the way of an estimate is for the job itself to meet, and to keep in its log.
    return { submission, sentences: [`no estimate: ${error instanceof Error ? error.message : String(error)}`] }
  }
  const { exceeds, mayExceed, total } = estimate
  if (exceeds.length > 0 && call.given(options.allowOverBudget) !== true) throw overBudget(estimate)
  const line = estimateLine(estimate)
  return {
    submission: total.calls === 0 ? submission : { ...submission, estimatedCostUsd: total.costUsd.worst },
    sentences: [
      ...(line === null ? [] : [line]),
      ...exceeds.map((over) => `It cannot fit, and will pause: ${overText(over)}.`),
      ...mayExceed.map(mayText),
    ],
  }
}

const overBudget = ({ exceeds, jobId }: Estimate): BudgetExceededError =>
  new BudgetExceededError(
    'over_budget',
    `the job cannot fit its limits: ${exceeds.map(overText).join('; ')}. Raise them, or have it pause there with --allow-over-budget`,
    { jobId, exceeds },
  )

/** Submits, and says on stderr what is going to happen: not before, since the store may still refuse. */
export const submitAnnounced = async (engine: Engine, announcement: Announcement, call: Call): Promise<JobDocument> => {
  const job = await engine.submit(announcement.submission, asker())
  for (const sentence of announcement.sentences) await call.shell.stderr.write(`${plainText(sentence)}\n`)
  return job
}
