import { ProviderError, type FailureKind, type RetryAfter } from '../../domain/errors.ts'
import { jsonField, parsedJson } from './jsonField.ts'

type Verdict = { readonly code: string; readonly kind: FailureKind; readonly billed: 'no' | 'unknown' }

/** What a server's refusal means: how it is retried, and whether it may be on the bill. */
export const openaiFailure = (
  refusal: { status: number; body: string; retryAfter: RetryAfter | null },
  provider: { name: string; unbilled5xx: boolean; redact: (text: string) => string },
): ProviderError => {
  const error = jsonField(parsedJson(refusal.body), 'error')
  const said = jsonField(error, 'message') ?? error
  const text = typeof said === 'string' ? said : refusal.body
  return new ProviderError({
    ...verdictOf(refusal.status, [jsonField(error, 'code'), jsonField(error, 'type')], provider.unbilled5xx),
    message: provider.redact(`${provider.name} answered ${refusal.status}: ${text}`),
    retryAfter: refusal.retryAfter,
    status: refusal.status,
  })
}

const policyCodes: readonly unknown[] = ['content_policy_violation', 'content_filter', 'moderation_blocked']

const verdictOf = (status: number, codes: readonly unknown[], unbilled5xx: boolean): Verdict => {
  if (status >= 500) {
    return { code: 'provider_unavailable', kind: 'transient', billed: unbilled5xx ? 'no' : 'unknown' }
  }
  if (codes.some((code) => policyCodes.includes(code)))
    return { code: 'policy_block', kind: 'policy_block', billed: 'no' }
  switch (status) {
    case 429:
      // An empty account answers like a busy one, but no wait fills it.
      return codes.includes('insufficient_quota')
        ? { code: 'provider_quota', kind: 'provider', billed: 'no' }
        : { code: 'rate_limited', kind: 'transient', billed: 'no' }
    case 408:
      return { code: 'request_timeout', kind: 'transient', billed: 'unknown' }
    case 409:
      return { code: 'in_progress', kind: 'transient', billed: 'unknown' }
    case 425:
      return { code: 'too_early', kind: 'transient', billed: 'unknown' }
    case 401:
    case 403:
      return { code: 'provider_auth', kind: 'provider', billed: 'no' }
    case 400:
    case 404:
    case 413:
    case 422:
      return { code: 'invalid_request', kind: 'invalid_input', billed: 'no' }
    default:
      return { code: 'provider_refused', kind: 'provider', billed: status >= 400 ? 'no' : 'unknown' }
  }
}
