/** One request, as a test writes it. */
export type Ask = {
  readonly method?: string
  readonly path: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as it is, in place of `body`. */
  readonly raw?: string | Uint8Array
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** What any route may answer: a test looks at the fields that its route has. */
type Answered = Readonly<Record<string, unknown>> & {
  readonly jobId: string
  readonly items: readonly (Readonly<Record<string, unknown>> & { readonly jobId: string; readonly revision: number })[]
  readonly nextCursor: string | null
  readonly code: string
  readonly detail: string
  readonly details: Readonly<Record<string, unknown>>
}

export type Answer = { readonly status: number; readonly headers: Headers; readonly text: string; readonly json: Answered }

/** Asks a server and reads the whole answer. */
export const ask = async (url: string, { method = 'GET', path, body, raw, token, headers = {} }: Ask): Promise<Answer> => {
  const content = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(content === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(content === undefined ? {} : { body: content }),
  })
  // A stream of events has no end to wait for.
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (isStream) await response.body?.cancel()
  const text = isStream ? '' : await response.text()
  return { status: response.status, headers: response.headers, text, json: jsonOf(text) as Answered }
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}
