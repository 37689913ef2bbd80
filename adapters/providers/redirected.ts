import { ProviderError } from '../../domain/errors.ts'

/** Fetch itself hides a redirect it may not follow; Node's shows it. */
export const isRedirect = (response: Response): boolean =>
  response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)

/** A redirect is never followed: the key is for one URL alone. */
export const redirected = (response: Response, provider: { name: string; baseUrl: string }): ProviderError => {
  void response.body?.cancel().catch(() => undefined)
  return new ProviderError({
    code: 'redirected',
    message: `${provider.name} at ${provider.baseUrl} redirects to ${placeOf(response)}: give the URL it redirects to`,
    kind: 'provider',
    // 303 means that the request was carried out and its result lies elsewhere; the others, that it was not.
    billed: response.status === 303 ? 'unknown' : 'no',
    status: response.status,
  })
}

/** No more than the origin: what follows may hold a token. */
const placeOf = (response: Response): string => {
  const location = response.headers.get('location') ?? ''
  return URL.canParse(location) ? new URL(location).origin : 'another place'
}
