import { describe, expect, test } from 'vitest'
import { anthropicProvider } from '../../../adapters/providers/anthropic.ts'
import { anthropicRequest } from '../../../adapters/providers/anthropicRequest.ts'
import { systemClock } from '../../../adapters/system/systemClock.ts'
import type { Message } from '../../../domain/ports/provider.ts'
import { call, failureOf, scriptedAnthropic } from './scriptedHttp.ts'

const anthropic = scriptedAnthropic()
const bodyOf = (messages: readonly Message[]) => JSON.parse(anthropicRequest({ ...call, messages })) as unknown

describe('what is sent', () => {
  test('is one POST with the key, the version, the idempotency key and nothing that was not asked for', async () => {
    await anthropic.answer({}, { apiKey: 'sk-ant-TESTSECRET123\n', idempotencyKey: 'job:abc:7' })
    const { request, idempotencyKey } = await anthropic.lastCall()
    expect(idempotencyKey).toBe('job:abc:7')
    expect(request.headers).toMatchObject({
      'x-api-key': 'sk-ant-TESTSECRET123',
      'anthropic-version': '2023-06-01',
      'content-type': 'application/json',
    })
    expect(request.headers['authorization']).toBeUndefined()
    expect(request.body).toEqual({ model: 'test-model', messages: call.messages, max_tokens: 100, stream: false })
  })

  test('has no x-api-key without a key', async () => {
    await anthropic.answer({}, { apiKey: '' })
    expect((await anthropic.lastCall()).request.headers['x-api-key']).toBeUndefined()
  })

  test('has the temperature where it is given, zero included, and never a seed, which the protocol lacks', async () => {
    await anthropic.answer({}, { request: { temperature: 0, seed: 7, choices: 1 } })
    const { body } = (await anthropic.lastCall()).request
    expect(body['temperature']).toBe(0)
    expect(Object.keys(body).toSorted()).toEqual(['max_tokens', 'messages', 'model', 'stream', 'temperature'])
  })

  test('has every system message in the one place for them, in their order, and the others in theirs', () => {
    const messages: Message[] = [
      { role: 'system', content: 'Answer shortly.' },
      { role: 'user', content: 'One?' },
      { role: 'assistant', content: 'One.' },
      { role: 'system', content: 'Be polite.' },
      { role: 'user', content: 'Two?' },
      { role: 'user', content: 'Please.' },
    ]
    expect(bodyOf(messages)).toMatchObject({
      system: 'Answer shortly.\n\nBe polite.',
      messages: messages.filter(({ role }) => role !== 'system'),
    })
  })

  test('O-15: has no half character', () => {
    const cut = 'cut: \ud83d'
    expect(bodyOf([{ role: 'system', content: cut }, { role: 'user', content: cut }])).toMatchObject({
      system: 'cut: \ufffd',
      messages: [{ role: 'user', content: 'cut: \ufffd' }],
    })
  })

  test('is nothing at all where more than one choice is asked for: that is refused, unbilled', async () => {
    const { received } = await anthropic.server().stats()
    const failure = await failureOf(anthropic.send({ request: { choices: 2 } }))
    expect(failure).toMatchObject({ code: 'invalid_request', kind: 'invalid_input', billed: 'no', retryable: false })
    expect(failure.message).toBe('the Anthropic protocol gives one answer a call, not 2: ask for one choice')
    expect((await anthropic.server().stats()).received).toBe(received)
  })
})

describe('a base URL', () => {
  const urlOf = async (baseUrl: string): Promise<string> => {
    const asked: string[] = []
    const fetch = (url: unknown) => {
      asked.push(String(url))
      return Promise.resolve(Response.json({ content: [] }))
    }
    await anthropic.send({ baseUrl, fetch })
    return asked.join()
  }

  test.each([
    ['https://host/v1', 'https://host/v1/messages'],
    ['https://host/v1/', 'https://host/v1/messages'],
    ['https://host', 'https://host/v1/messages'],
    ['https://host/', 'https://host/v1/messages'],
    ['https://host/anthropic', 'https://host/anthropic/v1/messages'],
    ['https://host/api/v1', 'https://host/api/v1/messages'],
  ])('%s, with its version or without, is asked at %s', async (baseUrl, url) => expect(await urlOf(baseUrl)).toBe(url))

  test('that is none is refused with an example of one', () => {
    const provider = () => anthropicProvider({ baseUrl: 'host/v1', clock: systemClock() })
    expect(provider).toThrow('is not a URL: give one such as https://api.anthropic.com/v1')
  })
})
