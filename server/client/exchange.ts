import { InvalidInputError, StoreUnavailable } from '../../domain/errors.ts'

export type Request = {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | null
}

export type Answer = { readonly status: number; readonly retryAfter: string | null; readonly body: Uint8Array }

/** What a program brings along to ask servers: its own `fetch`, unless another is handed in. */
export type Fetch = typeof fetch

/**
 * Asks once, and reads the whole answer. Raises `StoreUnavailable` where there was none, `InvalidInputError`
 * (`redirected`) for a redirect, which is never followed: a token is for one server.
 */
export const exchange = async (asked: Request, fetched: Fetch): Promise<Answer> => {
  const { url, method, headers, body } = asked
  let response: Response
  let content: ArrayBuffer
  try {
    // What changes under `fetch` must not change what was checked: a copy of the bytes goes out.
    const sent = typeof body === 'string' || body === null ? body : new Uint8Array(body)
    response = await fetched(url, { method, headers, body: sent, redirect: 'manual' })
    content = await response.arrayBuffer()
  } catch (error) {
    const { origin } = new URL(url)
    const cause = reasonOf(error)
    throw new StoreUnavailable(`the server at ${origin} does not answer (${cause})`, { server: origin, cause })
  }
  if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) throw redirected(url, response)
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body: new Uint8Array(content) }
}

const reasonOf = (error: unknown): string => {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  if (!(cause instanceof Error)) return String(cause)
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message
}

const redirected = (url: string, response: Response): InvalidInputError => {
  const { origin } = new URL(url)
  const location = response.headers.get('location')
  const target = location !== null && URL.canParse(location, url) ? new URL(location, url).origin : null
  const to = target === null ? 'elsewhere' : `to ${target}`
  return new InvalidInputError(`the server at ${origin} redirects ${to}, which is not followed: name the address of the server itself`, { server: origin, location: target }, 'redirected')
}
