/** What the scripted server does with a call. Everything is optional: the default is an answer at once. */
export type Behaviour = {
  readonly delayMs?: number
  readonly status?: number
  /** A list sends the header more than once. Values are templates. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** In place of an answer; `raw` and `json` are templates. `size`: an answer whose body has that many bytes. */
  readonly body?:
    { readonly json: unknown } | { readonly raw: string } | { readonly base64: string } | { readonly size: number }
  /** The answer's text: with `{{prompt}}`, `{{key}}`, `{{call}}`, `{{authorization}}` and `{{httpDate+ms}}` filled in. */
  readonly text?: string
  readonly finishReason?: string
  /** As it is sent, in the provider's own words. Null: none. */
  readonly usage?: Readonly<Record<string, unknown>> | null
  /** Ends the connection before anything was sent, after the headers, or in the middle of the body. */
  readonly cut?: 'before' | 'headers' | 'midBody'
  /** Accepts the call and stays silent. */
  readonly never?: true
  readonly trickle?: { readonly bytes: number; readonly everyMs: number }
  /** Answers 307 (or `status`) to this URL. */
  readonly redirect?: string
  /** Default: true for every 2xx. */
  readonly billed?: boolean
}

export type Rule = {
  /** All of them must hold. Calls are counted from 1 since the script was set. */
  readonly when?: {
    readonly call?: number
    readonly callsFrom?: number
    readonly callsTo?: number
    readonly key?: string
    readonly promptIncludes?: string
    readonly firstSendOfKey?: boolean
    readonly nthOfKey?: number
  }
  /** How often the rule is used at most. */
  readonly times?: number
  /** On top of the default. */
  readonly answer: Behaviour
}

export type Script = {
  readonly default?: Behaviour
  /** The first that fits is used. */
  readonly rules?: readonly Rule[]
  /** Repeats an answer for its key, unbilled; 409 while the first is at work. */
  readonly replay?: boolean
}

export type Call = {
  readonly id: number
  /** Milliseconds since 1970. */
  readonly receivedAt: number
  readonly answeredAt: number | null
  readonly idempotencyKey: string | null
  /** SHA-256 of the messages. */
  readonly promptHash: string
  /** The first user message, shortened to 120 characters. */
  readonly prompt: string
  readonly status: number | null
  readonly billed: boolean
  readonly replayed: boolean
  /** False where whoever asked had gone before the answer; null while there is none. */
  readonly delivered: boolean | null
}

/** A call as the running server tells it. The log file leaves the request out. */
export type SeenCall = Call & {
  readonly request: {
    readonly headers: Readonly<Record<string, string>>
    readonly body: Readonly<Record<string, unknown>>
  }
}

export type Stats = {
  readonly received: number
  readonly answered: number
  readonly billed: number
  readonly replayed: number
  readonly keys: number
  readonly atWork: number
  readonly atWorkMax: number
}
