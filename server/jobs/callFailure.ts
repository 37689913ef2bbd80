import { z } from 'zod'
import { PolicyBlockError, ProviderError } from '../../domain/errors.ts'
import { FailureKindName } from '../../domain/job/events.ts'
import { preview } from '../../domain/strictJson.ts'

/** Why a line of a batch, or a chunk of a dataset, has no answer. */
export const CallFailure = z.strictObject({
  error: z.strictObject({ code: z.string(), message: z.string() }),
  kind: FailureKindName,
})
export type CallFailure = z.infer<typeof CallFailure>

// What the provider holds against the account would fail every call: the job fails, and is retried once that is mended.
const accountCodes: readonly string[] = ['provider_auth', 'provider_quota']

/** The failure as the call's own, or null when it is not: the job is to be retried, stopped or failed by it. */
export const callFailure = (error: unknown, lastAttempt: boolean): CallFailure | null => {
  if (error instanceof PolicyBlockError) return failureOf(error, 'policy_block')
  if (!(error instanceof ProviderError) || accountCodes.includes(error.code)) return null
  switch (error.kind) {
    case 'policy_block':
    case 'invalid_input':
      return failureOf(error, error.kind)
    case 'transient':
    case 'provider':
      return error.retryable && !lastAttempt ? null : failureOf(error, error.kind)
    case 'bug':
      return null
  }
}

const failureOf = ({ code, message }: { code: string; message: string }, kind: CallFailure['kind']): CallFailure => ({
  error: { code, message: preview(message, 1_000) },
  kind,
})

/**
 * The failure of a job none of whose calls (`what` they are for, as in `lines`) has an answer: that of the first.
 * Policy alone may end a job beyond retry, so it speaks for the job only when it stopped all of them.
 */
export const failureOfAll = (failures: readonly (CallFailure & { readonly id: string })[], what: string): Error => {
  const first = failures.find(({ kind }) => kind !== 'policy_block') ?? failures[0]
  if (first === undefined) throw new RangeError(`none of the ${what} has failed`)
  const { code, message } = first.error
  const summary =
    failures.length === 1
      ? `${JSON.stringify(first.id)} failed with ${message}`
      : `none of ${failures.length} ${what} has an answer: ${JSON.stringify(first.id)} failed with ${message}`
  return first.kind === 'policy_block'
    ? new PolicyBlockError(code, summary)
    : new ProviderError({ code, message: summary, kind: first.kind, billed: 'no' })
}
