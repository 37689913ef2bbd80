import { ProviderError, type FailureKind, type RetryAfter } from '../../domain/errors.ts'
import { jsonField, parsedJson } from './jsonField.ts'

type Verdict = { readonly code: string; readonly kind: FailureKind; readonly billed: 'no' | 'unknown' }

/**
 * What a server's refusal means: how it is retried, and whether it may be on the bill. One judgement for every
 * protocol, because gateways hand on the errors of providers that speak another.
 */
export const refused = (
  refusal: { status: number; body: string; retryAfter: RetryAfter | null },
  provider: { name: string; unbilled5xx: boolean; redact: (text: string) => string },
): ProviderError => {
  const error = jsonField(parsedJson(refusal.body), 'error')
  const said = jsonField(error, 'message') ?? error
  const text = typeof said === 'string' ? said : refusal.body
  const codes = [jsonField(error, 'code'), jsonField(error, 'type'), jsonField(jsonField(error, 'details'), 'error_code')]
  return new ProviderError({
    ...verdictOf({ status: refusal.status, codes, text }, provider.unbilled5xx),
    message: provider.redact(`${provider.name} answered ${refusal.status}: ${text}`),
    retryAfter: refusal.retryAfter,
    status: refusal.status,
  })
}

const policyCodes: readonly unknown[] = ['content_policy_violation', 'content_filter', 'moderation_blocked']

// An empty account answers like a busy one or a wrong request, but neither waiting nor another line fills it.
const quotaCodes: readonly unknown[] = [
  'insufficient_quota',
  'credit_balance_exhausted',
  'organization_usage_limit_exceeded',
  'organization_spend_limit_exceeded',
  'project_spend_limit_exceeded',
  'billing_error',
  'enforced_spend_limit_reached',
]

// Anthropic tells these two by their words alone.
const quotaWords = /^(?:your credit balance is too low|you have reached your specified (?:workspace )?api usage limits)/i

const verdictOf = (
  { status, codes, text }: { status: number; codes: readonly unknown[]; text: string },
  unbilled5xx: boolean,
): Verdict => {
  if (status >= 500) {
    return { code: 'provider_unavailable', kind: 'transient', billed: unbilled5xx ? 'no' : 'unknown' }
  }
  if (codes.some((code) => policyCodes.includes(code)))
    return { code: 'policy_block', kind: 'policy_block', billed: 'no' }
  if (status === 402 || codes.some((code) => quotaCodes.includes(code)) || (status === 400 && quotaWords.test(text)))
    return { code: 'provider_quota', kind: 'provider', billed: 'no' }
  switch (status) {
    case 429:
      return { code: 'rate_limited', kind: 'transient', billed: 'no' }
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
