import { afterAll, beforeAll, expect } from 'vitest'
import { anthropicProvider } from '../../../adapters/providers/anthropic.ts'
import type { HttpProviderOptions } from '../../../adapters/providers/httpProvider.ts'
import { openaiProvider } from '../../../adapters/providers/openai.ts'
import { systemClock } from '../../../adapters/system/systemClock.ts'
import { ProviderError } from '../../../domain/errors.ts'
import type { CallRequest, Provider, ProviderAnswer } from '../../../domain/ports/provider.ts'
import type { Behaviour, SeenCall } from '../../support/scriptedProvider/script.ts'
import { startScriptedProvider, type ScriptedProvider } from '../../support/scriptedProvider/startScriptedProvider.ts'

/** Control: one call that is fine. A test changes what it is about. */
export type Asked = Partial<HttpProviderOptions> & {
  readonly request?: Partial<CallRequest>
  readonly idempotencyKey?: string
  readonly deadlineMs?: number
  readonly signal?: AbortSignal
}

export const call: CallRequest = {
  model: 'test-model',
  messages: [{ role: 'user', content: 'Say something.' }],
  maxOutputTokens: 100,
}

/** One scripted server for the file that calls this, and a provider against it. */
export const scriptedHttp = (providerOf: (options: HttpProviderOptions) => Provider) => {
  let server: ScriptedProvider
  beforeAll(async () => {
    server = await startScriptedProvider()
  })
  afterAll(() => server.close())

  /** What the provider makes of a server that behaves so. */
  const answer = async (behaviour: Behaviour, asked: Asked = {}): Promise<ProviderAnswer> => {
    await server.setScript({ default: behaviour })
    return send(asked)
  }

  const send = ({ request, idempotencyKey = 'job:call:1', deadlineMs = 10_000, signal, ...options }: Asked = {}) =>
    providerOf({ baseUrl: server.baseUrl, apiKey: null, clock: systemClock(), ...options }).complete(
      { ...call, ...request },
      { signal: signal ?? new AbortController().signal, idempotencyKey, deadlineMs },
    )

  return {
    server: () => server,
    send,
    answer,
    failure: (behaviour: Behaviour, asked: Asked = {}): Promise<ProviderError> => failureOf(answer(behaviour, asked)),
    lastCall: async (): Promise<SeenCall> => {
      const last = (await server.calls()).at(-1)
      if (last === undefined) throw new Error('the server saw no call')
      return last
    },
  }
}

export const scriptedOpenai = () => scriptedHttp(openaiProvider)
export const scriptedAnthropic = () => scriptedHttp(anthropicProvider)

/** Both protocols, for what a server does in either. */
export const protocols = [
  ['openai', openaiProvider],
  ['anthropic', anthropicProvider],
] as const

export const failureOf = async (answer: Promise<unknown>): Promise<ProviderError> => {
  const fault = await answer.then(
    (value) => new Error(`it answered ${JSON.stringify(value).slice(0, 200)}`),
    (error: unknown) => error,
  )
  expect(fault).toBeInstanceOf(ProviderError)
  return fault as ProviderError
}
