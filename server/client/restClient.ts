import type { z } from 'zod'
import { EngineError, InvalidInputError, StoreUnavailable } from '../../domain/errors.ts'
import { type Answer, exchange, type Fetch, type Request } from './exchange.ts'
import { pause } from './pause.ts'
import { raisedProblem } from './raisedProblem.ts'

export type RestClientParts = {
  /** Of the server; may have a path in front of `/v1`. */
  readonly url: string
  /** Sent to that server alone. */
  readonly token: string | null
  readonly fetch?: Fetch
  /** Waits between tries. */
  readonly sleep?: typeof pause
}

export type Asking = {
  readonly method: 'GET' | 'POST'
  /** Of the route; each part stands for itself, whatever characters it has. */
  readonly path: readonly string[]
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly headers?: Readonly<Record<string, string>>
  /** JSON text, or the bytes themselves. */
  readonly body?: string | Uint8Array
  /** False where asking twice could do something twice, and so is never done. */
  readonly isRepeatable: boolean
}

export type RestClient = {
  /** The answer, checked. Raises what the server's problem stands for. */
  json<Schema extends z.ZodType>(asking: Asking, schema: Schema): Promise<z.output<Schema>>
  bytes(asking: Asking): Promise<Uint8Array>
}

const triesMax = 5
const firstWaitMs = 250
const waitMsMax = 60_000

/**
 * Asks one server. Where no answer came, or the server says to ask again later, and asking again is safe, it does so a
 * few times, after waits that double or are as long as the server says. Raises `InvalidInputError` for an address or a
 * token that can be none, and never repeats a token.
 */
export const restClient = ({ url, token, fetch: fetched = fetch, sleep = pause }: RestClientParts): RestClient => {
  const base = baseOf(url)
  const authorization: Readonly<Record<string, string>> = token === null ? {} : { authorization: `Bearer ${checkedToken(token)}` }

  const ask = async (asking: Asking): Promise<Answer> => {
    const request = requestOf(asking, base, authorization)
    const named = `${asking.method} ${new URL(request.url).pathname}`
    for (let tries = 1; ; tries += 1) {
      const answer = await exchange(request, fetched).catch((error: unknown) => {
        if (!(error instanceof StoreUnavailable)) throw error
        return error
      })
      if (!(answer instanceof StoreUnavailable) && answer.status < 300) return answer
      const waitMs = asking.isRepeatable && tries < triesMax ? waitOf(answer, tries) : null
      if (waitMs === null) throw answer instanceof StoreUnavailable ? answer : raisedProblem(answer, named)
      await sleep(waitMs)
    }
  }

  return {
    async json(asking, schema) {
      const { body } = await ask(asking)
      return parsedAnswer(body, schema, asking)
    },
    bytes: async (asking) => (await ask(asking)).body,
  }
}

/** How long to wait before asking again; null where that would change nothing. */
const waitOf = (answer: Answer | StoreUnavailable, tries: number): number | null => {
  const doubled = firstWaitMs * 2 ** (tries - 1)
  if (answer instanceof StoreUnavailable) return isStillAtIt(answer) ? null : doubled
  if (answer.status !== 503 && answer.status !== 429) return null
  const said = /^\d{1,6}$/.test(answer.retryAfter ?? '') ? Number(answer.retryAfter) * 1_000 : doubled
  return said > waitMsMax ? null : Math.max(said, firstWaitMs)
}

/** A server that has taken the request and not answered would only begin once more. */
const isStillAtIt = ({ details: { cause } }: StoreUnavailable): boolean => typeof cause === 'string' && /(HEADERS|BODY)_TIMEOUT$/.test(cause)

const baseOf = (url: string): string => {
  const parsed = URL.canParse(url) ? new URL(url) : null
  const isPlain = parsed !== null && /^https?:$/.test(parsed.protocol) && `${parsed.username}${parsed.password}${parsed.search}${parsed.hash}` === ''
  if (isPlain) return `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, '')
  // The address may hold a password, so it is not repeated.
  throw new InvalidInputError('the address of a server must be http:// or https://, without a user, password, query or fragment')
}

const checkedToken = (token: string): string => {
  if (/^[\x21-\x7e]{1,500}$/.test(token)) return token
  throw new InvalidInputError('the token must be as it was told: printable ASCII without a space, at most 500 characters', {}, 'invalid_token')
}

const requestOf = (asking: Asking, base: string, authorization: Readonly<Record<string, string>>): Request => {
  const { method, path, query = {}, headers = {}, body = null } = asking
  const address = new URL(`${base}/v1/${path.map(encodeURIComponent).join('/')}`)
  for (const [name, value] of Object.entries(query)) if (value !== undefined) address.searchParams.set(name, String(value))
  const type: Readonly<Record<string, string>> =
    body === null ? {} : { 'content-type': typeof body === 'string' ? 'application/json' : 'application/octet-stream' }
  return { url: address.href, method, headers: { ...headers, ...type, ...authorization }, body }
}

const parsedAnswer = <Schema extends z.ZodType>(body: Uint8Array, schema: Schema, { method, path }: Asking): z.output<Schema> => {
  const parsed = schema.safeParse(jsonIn(body))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const field = issue?.path.map(String).join('.') ?? ''
  throw new EngineError(
    'internal',
    `the answer to ${method} /v1/${path.join('/')} is not one that this version knows (${field}: ${issue?.message ?? ''}): is the server of another version?`,
    { field },
  )
}

const jsonIn = (body: Uint8Array): unknown => {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body))
    return value
  } catch {
    return undefined
  }
}
