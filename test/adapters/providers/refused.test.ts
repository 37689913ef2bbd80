import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ProviderError } from '../../../domain/errors.ts'
import { startScriptedProvider, type ScriptedProvider } from '../../support/scriptedProvider/startScriptedProvider.ts'
import { protocols, scriptedHttp } from './scriptedHttp.ts'

const judged = ({ code, kind, billed, retryable }: ProviderError) => [code, kind, billed, retryable].join(' ')
const error = (fields: Record<string, unknown>) => ({ json: { error: { message: 'No.', ...fields } } })

describe.each(protocols)('%s:', (name, providerOf) => {
  const server = scriptedHttp(providerOf)

  describe('a refusal is judged by its status', () => {
    test.each([
      [429, 'rate_limited transient no true'],
      [408, 'request_timeout transient unknown true'],
      [409, 'in_progress transient unknown true'],
      [425, 'too_early transient unknown true'],
      [500, 'provider_unavailable transient unknown true'],
      [502, 'provider_unavailable transient unknown true'],
      [503, 'provider_unavailable transient unknown true'],
      [529, 'provider_unavailable transient unknown true'],
      [400, 'invalid_request invalid_input no false'],
      [404, 'invalid_request invalid_input no false'],
      [413, 'invalid_request invalid_input no false'],
      [422, 'invalid_request invalid_input no false'],
      [401, 'provider_auth provider no false'],
      [403, 'provider_auth provider no false'],
      [402, 'provider_quota provider no false'],
      [418, 'provider_refused provider no false'],
    ])('%i is %s', async (status, verdict) => {
      const failure = await server.failure({ status })
      expect(judged(failure)).toBe(verdict)
      expect(failure.status).toBe(status)
    })

    test('a 5xx is unbilled where the provider is declared so', async () => {
      expect(await server.failure({ status: 503 }, { unbilled5xx: true })).toMatchObject({ billed: 'no' })
      expect(await server.failure({ status: 408 }, { unbilled5xx: true })).toMatchObject({ billed: 'unknown' })
    })
  })

  describe('a refusal is judged by what it says', () => {
    test.each([
      [400, { code: 'content_policy_violation' }],
      [400, { code: 'content_filter' }],
      [403, { type: 'content_filter' }],
    ])('%i with %o is a policy block, never retried', async (status, fields) => {
      expect(judged(await server.failure({ status, body: error(fields) }))).toBe('policy_block policy_block no false')
    })

    test.each([
      [429, { code: 'insufficient_quota' }],
      [429, { type: 'insufficient_quota', code: 'organization_spend_limit_exceeded' }],
      [402, { type: 'billing_error' }],
      [429, { type: 'rate_limit_error', details: { error_code: 'enforced_spend_limit_reached' } }],
      [400, { type: 'invalid_request_error', message: 'Your credit balance is too low to access the Anthropic API.' }],
      [400, { type: 'invalid_request_error', message: 'You have reached your specified API usage limits. You will' }],
      [400, { type: 'invalid_request_error', message: 'You have reached your specified workspace API usage limits.' }],
    ])('%i of an empty account with %o is not retried, and is no fault of the line', async (status, fields) => {
      expect(judged(await server.failure({ status, body: error(fields) }))).toBe('provider_quota provider no false')
    })

    test('its message is kept', async () => {
      expect((await server.failure({ status: 400, body: error({}) })).message).toBe(`${name} answered 400: No.`)
      const plain = await server.failure({ status: 502, body: { raw: '<h1>Bad gateway</h1>' } }, { name: 'vllm' })
      expect(plain.message).toBe('vllm answered 502: <h1>Bad gateway</h1>')
    })

    test('an error inside of a 200 is that error, and may be billed', async () => {
      const failure = await server.failure({ body: error({ code: 429, type: 'rate_limit_error' }) })
      expect(judged(failure)).toBe('rate_limited transient unknown true')
    })

    test.each(['content_filter', 'refusal'])('%s as the end of an answer leaves it an answer', async (finishReason) => {
      expect(await server.answer({ text: 'Half', finishReason })).toMatchObject({ text: 'Half', finishReason })
    })
  })

  describe('a redirect is not followed', () => {
    let elsewhere: ScriptedProvider
    beforeAll(async () => {
      elsewhere = await startScriptedProvider()
    })
    afterAll(() => elsewhere.close())

    test.each([
      [301, 'no'],
      [302, 'no'],
      [307, 'no'],
      [308, 'no'],
      [303, 'unknown'],
    ])('%i fails for good, billed %s, and the key goes nowhere else', async (status, billed) => {
      const redirect = `${elsewhere.baseUrl}/chat/completions?token=abc`
      const failure = await server.failure({ status, redirect }, { apiKey: 'sk-TESTSECRET123' })
      expect(judged(failure)).toBe(`redirected provider ${billed} false`)
      expect(failure.message).toContain(new URL(elsewhere.baseUrl).origin)
      expect(failure.message).not.toContain('token')
      expect(await elsewhere.stats()).toMatchObject({ received: 0 })
    })
  })
})
