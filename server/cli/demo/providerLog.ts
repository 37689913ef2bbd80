import { z } from 'zod'
import { readText } from '../readFiles.ts'

/** One request as the provider saw it. */
export type ProviderCall = {
  readonly call: number
  /** The `Idempotency-Key` it came with. */
  readonly key: string | null
  /** Hash of the request's body: the provider's own way to know a question again. */
  readonly body: string
  readonly answer: ProviderAnswer | null
}

type ProviderAnswer = {
  readonly status: number
  readonly billed: boolean
  /** A stored answer, sent again for its key. */
  readonly replayed: boolean
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number } | null
}

const tokens = z.int().nonnegative()

const CallLogLine = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('received'),
    call: z.int(),
    idempotencyKey: z.string().nullable(),
    fingerprint: z.string(),
  }),
  z.object({
    kind: z.literal('answered'),
    call: z.int(),
    status: z.int(),
    billed: z.boolean(),
    replayed: z.boolean(),
    usage: z.object({ prompt_tokens: tokens, completion_tokens: tokens }).nullable(),
  }),
])

const bytesMax = 64 * 1_048_576

/** Every call in the provider's own log, in the order in which they came in. */
export const readProviderLog = async (path: string): Promise<readonly ProviderCall[]> => {
  const calls = new Map<number, ProviderCall>()
  for (const text of (await readText(path, bytesMax)).split('\n').filter((line) => line !== '')) {
    const line = CallLogLine.parse(JSON.parse(text))
    if (line.kind === 'received') {
      calls.set(line.call, { call: line.call, key: line.idempotencyKey, body: line.fingerprint, answer: null })
      continue
    }
    const call = calls.get(line.call)
    const { status, billed, replayed, usage } = line
    if (call !== undefined) calls.set(line.call, { ...call, answer: { status, billed, replayed, usage } })
  }
  return [...calls.values()]
}
