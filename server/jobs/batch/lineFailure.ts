import { z } from 'zod'
import { PolicyBlockError, ProviderError } from '../../../domain/errors.ts'
import { FailureKindName } from '../../../domain/job/events.ts'
import { preview } from '../../../domain/strictJson.ts'

/** Why a line has no answer. */
export const LineFailure = z.strictObject({
  error: z.strictObject({ code: z.string(), message: z.string() }),
  kind: FailureKindName,
})
export type LineFailure = z.infer<typeof LineFailure>

// What the provider holds against the account would fail every line: the job fails, and is retried once that is mended.
const accountCodes: readonly string[] = ['provider_auth', 'provider_quota']

/** The failure as the line's own, or null when it is not: the job is to be retried, stopped or failed by it. */
export const lineFailure = (error: unknown, lastAttempt: boolean): LineFailure | null => {
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

const failureOf = ({ code, message }: { code: string; message: string }, kind: LineFailure['kind']): LineFailure => ({
  error: { code, message: preview(message, 1_000) },
  kind,
})

/**
 * The failure of a job whose every line failed: that of the first line. Policy alone may end a job beyond retry, so
 * it speaks for the job only when it stopped all lines.
 */
export const failureOfAll = (failures: readonly (LineFailure & { readonly id: string })[]): Error => {
  const first = failures.find(({ kind }) => kind !== 'policy_block') ?? failures[0]
  if (first === undefined) throw new RangeError('no line has failed')
  const { code, message } = first.error
  const summary =
    failures.length === 1
      ? message
      : `none of ${failures.length} lines has an answer: ${JSON.stringify(first.id)} failed with ${message}`
  return first.kind === 'policy_block'
    ? new PolicyBlockError(code, summary)
    : new ProviderError({ code, message: summary, kind: first.kind, billed: 'no' })
}
