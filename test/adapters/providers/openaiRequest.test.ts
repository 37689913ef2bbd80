import { describe, expect, test } from 'vitest'
import { openaiProvider } from '../../../adapters/providers/openai.ts'
import { systemClock } from '../../../adapters/system/systemClock.ts'
import { InvalidInputError } from '../../../domain/errors.ts'
import { openaiRequest } from '../../../adapters/providers/openaiRequest.ts'
import { call, scriptedOpenai } from './scriptedHttp.ts'

const openai = scriptedOpenai()

describe('what is sent', () => {
  test('is one POST with the key, the idempotency key and nothing that was not asked for', async () => {
    await openai.answer({}, { apiKey: 'sk-TESTSECRET123\n', idempotencyKey: 'job:abc:7' })
    const { request, idempotencyKey } = await openai.lastCall()
    expect(idempotencyKey).toBe('job:abc:7')
    expect(request.headers['authorization']).toBe('Bearer sk-TESTSECRET123')
    expect(request.headers['content-type']).toBe('application/json')
    expect(request.body).toEqual({ model: 'test-model', messages: call.messages, max_tokens: 100, stream: false })
  })

  test('has no Authorization without a key', async () => {
    await openai.answer({}, { apiKey: '' })
    expect((await openai.lastCall()).request.headers['authorization']).toBeUndefined()
  })

  test('has temperature, seed and choices where they are given, zero included', async () => {
    await openai.answer({}, { request: { temperature: 0, seed: 0, choices: 2 } })
    expect((await openai.lastCall()).request.body).toMatchObject({ temperature: 0, seed: 0, n: 2 })
  })

  test.each([
    ['gpt-4o', 'max_tokens'],
    ['llama-3.1-8b', 'max_tokens'],
    ['gpt-oss-20b', 'max_tokens'],
    ['offline-small', 'max_tokens'],
    ['o1', 'max_completion_tokens'],
    ['o3-mini', 'max_completion_tokens'],
    ['gpt-5-nano', 'max_completion_tokens'],
    ['gpt-5.1', 'max_completion_tokens'],
    ['openai/gpt-5', 'max_completion_tokens'],
  ])('%s is limited by %s', (model, name) => {
    const body = JSON.parse(openaiRequest({ ...call, model }))
    expect([body[name], Object.keys(body).filter((key) => key.startsWith('max_')).length]).toEqual([100, 1])
  })

  test('O-15: has no half character', async () => {
    await openai.answer({}, { request: { messages: [{ role: 'user', content: 'cut: \ud83d' }] } })
    expect((await openai.lastCall()).prompt).toBe('cut: \ufffd')
  })
})

describe('a base URL', () => {
  const provider = (baseUrl: string, apiKey = 'sk-TESTSECRET123') =>
    openaiProvider({ baseUrl, apiKey, clock: systemClock() })

  test.each([
    'ftp://host/v1',
    'file:///etc',
    'host/v1',
    '',
    'javascript:alert(1)',
    'http://h/v1?x=1',
    'http://h/v1#x',
    'http://h/v1?',
  ])('"%s" is refused', (baseUrl) => expect(() => provider(baseUrl)).toThrow(InvalidInputError))

  test.each([
    'https://me:hunter2@host/v1',
    'https://hunter2@host/v1',
    'https://host/v1?key=hunter2',
    'https://host/v1#hunter2',
    'http:// me:hunter2@host',
  ])('"%s" is refused without showing what it hides', (baseUrl) => {
    expect(() => provider(baseUrl)).toThrow(/the base URL ".*" (must|is not)/)
    expect(() => provider(baseUrl)).not.toThrow(/hunter2/)
  })

  test('may end in a slash', async () => {
    expect(await openai.answer({ text: 'Yes.' }, { baseUrl: `${openai.server().baseUrl}/` })).toMatchObject({
      text: 'Yes.',
    })
  })

  test('with a key that fits no header is refused without showing it', () => {
    expect(() => provider('http://h/v1', 'sk-TEST\nSECRET')).toThrow(InvalidInputError)
    expect(() => provider('http://h/v1', 'sk-TEST\nSECRET')).not.toThrow(/SECRET/)
  })
})
