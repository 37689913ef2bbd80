import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorkplace } from '../../server/compose.ts'
import { Config } from '../../server/config.ts'
import type { ProviderConfig } from '../../server/config.ts'
import { batchLines, maxOutputTokens } from '../support/batchFiles.ts'
import { startScriptedProvider, type ScriptedProvider } from '../support/scriptedProvider/startScriptedProvider.ts'
import { batchOf, resultsOf } from '../support/workplaceOn.ts'

let server: ScriptedProvider
beforeAll(async () => {
  server = await startScriptedProvider()
})
afterAll(() => server.close())

const prices = (provider: string) => ({
  id: 'O-11',
  effectiveFrom: '2020-01-01',
  provider,
  models: { scripted: { inputPerMTok: '2.00', cachedInputPerMTok: '0.20', outputPerMTok: '8.00' } },
})

/** A batch of one line by a provider that is configured so, worked to its end: the job, its ledger and its answer. */
const worked = async (name: string, entry: ProviderConfig, env: Record<string, string> = {}, baseUrl = server.baseUrl) => {
  const config = Config.parse({ store: 'memory:', providers: { [name]: entry } })
  const place = await openWorkplace(config, { env, log: () => {} })
  const provider = { name, baseUrl }
  const over = { provider, priceProfiles: [prices(name)], parameters: { maxOutputTokens: maxOutputTokens * 5 } }
  const { jobId } = await place.engine.submit(batchOf(batchLines(1), baseUrl, over))
  await place.work({ once: true }, new AbortController().signal)
  const job = await place.engine.status(jobId)
  const { lines } = await place.engine.ledger(jobId)
  const results = JSON.parse(await resultsOf(place, jobId)) as { text: string }
  await place.close()
  return { job, lines, text: results.text, call: (await server.calls()).at(-1) }
}

const openai = (prompt: number) => ({
  prompt_tokens: prompt,
  completion_tokens: 500,
  prompt_tokens_details: { cached_tokens: 9_000 },
})
const anthropic = (input: number) => ({ input_tokens: input, output_tokens: 500, cache_read_input_tokens: 9_000 })

describe('O-11: nine thousand cached of ten thousand tokens are booked once', () => {
  test.each([
    ['openai', 'cached_inside', openai(10_000)],
    ['openai', 'cached_beside', openai(1_000)],
    ['anthropic', 'cached_inside', anthropic(10_000)],
    ['anthropic', 'cached_beside', anthropic(1_000)],
  ] as const)('by a gateway that speaks %s, %s', async (protocol, usageDialect, usage) => {
    await server.setScript({ default: { text: 'Booked.', usage } })
    const { job, lines, text } = await worked('gateway', { baseUrl: server.baseUrl, protocol, usageDialect })
    expect(text).toBe('Booked.')
    expect(job).toMatchObject({ state: 'succeeded', actualCostUsd: '0.0078', budget: { inputTokens: 10_000, outputTokens: 500 } })
    expect(lines).toMatchObject([
      { state: 'settled', costUsd: '0.0078', usage: { inputTokens: 1_000, cachedInputTokens: 9_000, outputTokens: 500 } },
    ])
  })
})

describe('the protocol that is spoken', () => {
  const urlOf = async (name: string, entry: ProviderConfig) => {
    await server.setScript({})
    const { call } = await worked(name, { baseUrl: server.baseUrl, ...entry })
    return call?.request.headers['anthropic-version'] === undefined ? 'openai' : 'anthropic'
  }

  test.each([
    ['anthropic', {}, 'anthropic'],
    ['openai', {}, 'openai'],
    ['gateway', {}, 'openai'],
    ['gateway', { protocol: 'anthropic' }, 'anthropic'],
    ['anthropic', { protocol: 'openai' }, 'openai'],
  ] as const)('with the provider %s, configured %o, is %s', async (name, entry, spoken) => {
    expect(await urlOf(name, entry)).toBe(spoken)
  })
})

describe('the key of anthropic', () => {
  const entry = { apiKeyEnv: 'ANTHROPIC_API_KEY' }
  const env = { ANTHROPIC_API_KEY: 'sk-ant-TESTSECRET123' }
  beforeAll(() => server.setScript({}))

  test('is sent to the address it is configured with', async () => {
    const { call } = await worked('anthropic', { ...entry, baseUrl: server.baseUrl }, env)
    expect(call?.request.headers['x-api-key']).toBe('sk-ant-TESTSECRET123')
  })

  test.each([
    ['that of the provider itself', {}],
    ['one of the configuration', { baseUrl: 'https://gateway.invalid/v1' }],
  ])('is sent to no other: its own is %s', async (_, own) => {
    const { job, call } = await worked('anthropic', { ...entry, ...own }, env)
    expect(job.state).toBe('succeeded')
    expect(JSON.stringify(call?.request.headers)).not.toContain('TESTSECRET')
  })
})
