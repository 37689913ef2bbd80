import { appendFileSync } from 'node:fs'

/** One line for each request that came in, and one for each answer to it. `call` joins the two. */
export type CallLogLine = {
  readonly kind: 'received' | 'answered'
  readonly call: number
  /** ISO 8601 UTC. */
  readonly at: string
  readonly idempotencyKey: string | null
  /** Lower-case hex SHA-256 of the body. */
  readonly fingerprint: string
  readonly status?: number
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null
  readonly billed?: boolean
  /** True for a stored answer, sent again for its key. */
  readonly replayed?: boolean
}

/**
 * Appends to a JSON Lines file. A line is with the operating system when this returns, so it outlives a kill of
 * either side.
 */
export const offlineCallLog =
  (path: string | null) =>
  (line: CallLogLine): void => {
    if (path !== null) appendFileSync(path, `${JSON.stringify(line)}\n`)
  }
