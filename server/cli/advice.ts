import type { EngineError } from '../../domain/errors.ts'

/** What to do about an error, for those where its own sentence does not say it already. */
const advice: Readonly<Record<string, readonly string[]>> = {
  job_not_found: ['`knovaryn job list` shows the jobs of this store.'],
  ambiguous_handle: ['Give more digits of the id.'],
  idempotency_conflict: ['Give the new work a key of its own with --key, or look at the job that has it: `knovaryn job status JOB`.'],
  budget_exhausted: ['Raise the limit that is named, for example `knovaryn job resume JOB --budget-usd NEW_TOTAL`.'],
  policy_block: ['Change what is asked, and submit it as a new job.'],
  unreconciled_calls: ['`knovaryn job ledger JOB` shows the held calls; `knovaryn job reconcile` closes one.'],
  call_not_held: ['`knovaryn job ledger JOB` shows which calls are held.'],
  newer_schema: ['This job was written by a newer program: update knovaryn to work on it.'],
  revision_conflict: ['Others write to the job at the same moment: try again.'],
  token_not_found: ['`knovaryn token list` shows the tokens of this store.'],
  unauthenticated: ['Set KNOVARYN_TOKEN to a token of that server: `knovaryn token create` makes one where its store is.'],
  internal: ['Nothing acknowledged is lost. With KNOVARYN_DEBUG=1 the same command shows where it happened.'],
}

/** `program` is how this program was called: the commands in the advice can be pasted. */
export const adviceFor = (error: EngineError, program: string): readonly string[] => [
  ...(typeof error.details['help'] === 'string' ? [calledAgain(`See \`${error.details['help']}\`.`, program)] : []),
  ...(advice[error.code] ?? []).map((sentence) => calledAgain(sentence, program)),
]

const calledAgain = (sentence: string, program: string): string => sentence.replaceAll('`knovaryn ', `\`${program} `)
