import { ProviderError } from '../../domain/errors.ts'
import { jsonField } from './jsonField.ts'

/**
 * What it means that `fetch` brought no answer. Nothing was sent, and so nothing billed, when no connection came
 * about; otherwise the request may have arrived.
 */
export const connectionFailure = (
  fault: unknown,
  provider: { name: string; baseUrl: string; redact: (text: string) => string },
): ProviderError => {
  const cause = jsonField(fault, 'cause') ?? fault
  const code = jsonField(cause, 'code')
  const reason = typeof code === 'string' ? code : cause instanceof Error ? cause.message : 'no reason given'
  const because = (what: string): string =>
    provider.redact(`${provider.name} at ${provider.baseUrl}: ${what} (${reason})`)
  if (certificateCodes.test(reason)) {
    return new ProviderError({
      code: 'provider_tls',
      message: because('no secure connection'),
      kind: 'provider',
      billed: 'no',
    })
  }
  if (reason === 'UND_ERR_HEADERS_TIMEOUT') {
    return new ProviderError({ code: 'timeout', message: because('no answer'), kind: 'transient', billed: 'unknown' })
  }
  if (reason === 'UND_ERR_CONNECT_TIMEOUT' || neverConnected(cause)) {
    return new ProviderError({
      code: 'connection_failed',
      message: because('no connection'),
      kind: 'transient',
      billed: 'no',
    })
  }
  return new ProviderError({
    code: 'connection_cut',
    message: because('no answer'),
    kind: 'transient',
    billed: 'unknown',
  })
}

// A certificate nobody trusts, or a server that speaks no TLS: a repeat meets the same.
const certificateCodes = new RegExp(
  [
    '^CERT_',
    '^UNABLE_TO_',
    '^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|HOSTNAME_MISMATCH)$',
    '^ERR_TLS_CERT_',
    '^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$',
  ].join('|'),
)

/** The system call that failed tells: a name with several addresses fails once for each. */
const neverConnected = (cause: unknown): boolean => {
  const attempts = jsonField(cause, 'errors')
  if (Array.isArray(attempts) && attempts.length > 0) return attempts.every(neverConnected)
  const call = jsonField(cause, 'syscall')
  return call === 'connect' || call === 'getaddrinfo'
}
