import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InvalidInputError } from '../../domain/errors.ts'
import { usd } from '../../domain/money.ts'
import {
  costOf,
  inputTokensOf,
  type ModelPrice,
  pinPrices,
  PriceProfile,
  Usage,
  worstCaseCost,
  worstCaseTokens,
} from '../../domain/pricing.ts'

const seed = 20_260_104
const price: ModelPrice = { inputPerMTok: '2.00', cachedInputPerMTok: '0.20', outputPerMTok: '8.00' }
const usage: Usage = { inputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0 }

describe('the cost of a call', () => {
  test('counts cached input once, at its own price', () => {
    const billed = { ...usage, inputTokens: 1_000, cachedInputTokens: 9_000, outputTokens: 500 }
    expect(usd(costOf(billed, price))).toBe('0.0078')
    expect(inputTokensOf(billed)).toBe(10_000)
  })

  test('counts what is written to the cache at its own price, or as plain input where there is none', () => {
    const written = { ...usage, cacheWriteTokens: 1_000_000 }
    expect(usd(costOf(written, price))).toBe('2')
    expect(usd(costOf(written, { ...price, cacheWritePerMTok: '2.5' }))).toBe('2.5')
  })

  test('includes the price of the call itself', () => {
    expect(usd(costOf(usage, { ...price, perCall: '0.01' }))).toBe('0.01')
  })

  test('of 3 230 tokens at 0.50 a million is 0.001615, and of ten thousand such calls exactly 16.15', () => {
    const each = costOf({ ...usage, inputTokens: 3_230 }, { ...price, inputPerMTok: '0.5' })
    expect(usd(each)).toBe('0.001615')
    expect(usd(each * 10_000n)).toBe('16.15')
  })

  test('is rounded up once, at the end', () => {
    const tiny = { inputPerMTok: '0.000000000001', cachedInputPerMTok: '0.000000000001', outputPerMTok: '0.0006' }
    expect(costOf({ ...usage, inputTokens: 1 }, tiny)).toBe(1n)
    expect(costOf({ ...usage, inputTokens: 1, cachedInputTokens: 1, outputTokens: 1 }, tiny)).toBe(1n)
    expect(costOf({ ...usage, outputTokens: 2 }, tiny)).toBe(2n)
    expect(costOf(usage, tiny)).toBe(0n)
  })

  const aPrice = fc
    .tuple(fc.nat(99_999), fc.nat(999_999_999_999))
    .map(([whole, fraction]) => `${whole}.${String(fraction).padStart(12, '0')}`)
  const prices = fc.record(
    {
      inputPerMTok: aPrice,
      cachedInputPerMTok: aPrice,
      cacheWritePerMTok: aPrice,
      outputPerMTok: aPrice,
      perCall: aPrice,
    },
    { requiredKeys: ['inputPerMTok', 'cachedInputPerMTok', 'outputPerMTok'] },
  ) as fc.Arbitrary<ModelPrice>
  const tokens = fc.nat(2_000_000)

  test(`is never above the worst case for usage within the counted tokens (seed ${seed})`, () => {
    fc.assert(
      fc.property(
        prices,
        tokens,
        tokens,
        tokens,
        tokens,
        fc.nat(999),
        fc.nat(999),
        (each, a, b, c, out, more, extra) => {
          const used = { inputTokens: a, cachedInputTokens: b, cacheWriteTokens: c, outputTokens: out }
          const counted = { inputTokens: inputTokensOf(used) + more, outputTokens: out + extra }
          expect(costOf(used, each) <= worstCaseCost(counted, each)).toBe(true)
        },
      ),
      { seed, numRuns: 1_000 },
    )
  })

  test(`never has an exponent, a sign or binary noise, whatever the price (seed ${seed})`, () => {
    fc.assert(
      fc.property(prices, tokens, tokens, (each, inputTokens, outputTokens) => {
        expect(usd(costOf({ ...usage, inputTokens, outputTokens }, each))).toMatch(/^(0|[1-9]\d*)(\.\d{0,8}[1-9])?$/)
      }),
      { seed },
    )
  })

  test.each([
    ['negative', { ...usage, outputTokens: -1 }],
    ['missing', { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 }],
    ['broken', { ...usage, inputTokens: 1.5 }],
    ['beyond 2^53', { ...usage, inputTokens: 2 ** 53 }],
    ['not a number', { ...usage, inputTokens: Number.NaN }],
  ])('is not reckoned from %s usage: that is no usage', (_how, impossible) => {
    expect(Usage.safeParse(impossible).success).toBe(false)
  })
})

describe('the worst case of a call', () => {
  const framing = { perCall: 3, perMessage: 4 }
  const unknown = { framing, countTokens: () => null }
  const request = { model: 'm', messages: [{ content: 'a' }, { content: 'ü🔥' }], maxOutputTokens: 50 }

  test('takes a token a byte where no tokenizer is known, and adds what the provider adds', () => {
    expect(worstCaseTokens(request, unknown)).toEqual({ inputTokens: 3 + (4 + 1) + (4 + 6), outputTokens: 50 })
  })

  test('takes the tokenizer where there is one', () => {
    expect(worstCaseTokens(request, { framing, countTokens: () => 2 })).toEqual({ inputTokens: 15, outputTokens: 50 })
  })

  test('counts every choice', () => {
    expect(worstCaseTokens({ ...request, choices: 3 }, unknown).outputTokens).toBe(150)
  })

  test(`counts a text without tokenizer as the bytes it is sent as (seed ${seed})`, () => {
    const encoder = new TextEncoder()
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (content) => {
        const counted = worstCaseTokens({ ...request, messages: [{ content }] }, unknown)
        expect(counted.inputTokens).toBe(7 + encoder.encode(content).length)
      }),
      { seed },
    )
  })

  test('prices every input token at the dearest input price', () => {
    const each = { ...price, cacheWritePerMTok: '2.50', cachedInputPerMTok: '0.2', perCall: '0.001' }
    expect(usd(worstCaseCost({ inputTokens: 1_000_000, outputTokens: 1_000_000 }, each))).toBe('10.501')
  })
})

describe('pinning prices', () => {
  const profile = (id: string, effectiveFrom: string, models: PriceProfile['models'], provider = 'openai') =>
    PriceProfile.parse({ id, effectiveFrom, provider, models })
  const old = profile('old', '2025-01-01', { small: price, large: price })
  const next = profile('next', '2026-01-01T00:00:00Z', { small: { ...price, inputPerMTok: '3' } })
  const at = (text: string) => Date.parse(text)
  const small = { provider: 'openai', models: ['small'] }

  test('takes the latest profile in force, from its instant on', () => {
    expect(pinPrices([next, old], { ...small, at: at('2025-12-31T23:59:59.999Z') })).toBe(old)
    expect(pinPrices([old, next], { ...small, at: at('2026-01-01T00:00:00.000Z') })).toBe(next)
  })

  test('takes a date as 00:00 UTC', () => {
    expect(pinPrices([old], { ...small, at: at('2025-01-01T00:00:00.000Z') })).toBe(old)
    expect(pinPrices([old], { ...small, at: at('2024-12-31T23:59:59.999Z') })).toBeNull()
  })

  test('makes one profile of several when each prices another of the models', () => {
    const pinned = pinPrices([old, next], { provider: 'openai', models: ['large', 'small'], at: at('2026-06-01') })
    expect(pinned).toEqual({
      id: 'next+old',
      effectiveFrom: '2026-01-01T00:00:00Z',
      provider: 'openai',
      models: { large: price, small: { ...price, inputPerMTok: '3' } },
    })
    expect(PriceProfile.safeParse(pinned).success).toBe(true)
  })

  test('leaves out a model that nobody prices, also one named like something every object has', () => {
    const wanted = { provider: 'openai', models: ['constructor', 'unheard-of'], at: at('2026-06-01') }
    expect(pinPrices([old], wanted)).toBeNull()
    expect(pinPrices([old], { ...wanted, models: ['small', 'toString'] })).toBe(old)
  })

  test('looks at no other provider', () => {
    expect(pinPrices([old], { ...small, provider: 'anthropic', at: at('2026-06-01') })).toBeNull()
  })

  test('refuses two prices of one model from one instant, however it is written', () => {
    const again = profile('again', '2025-01-01T01:00:00+01:00', { small: price })
    const pin = () => pinPrices([old, again], { ...small, at: at('2026-06-01') })
    expect(pin).toThrow(InvalidInputError)
    expect(pin).toThrow('"old" and "again" both price openai small')
    const elsewhere = profile('elsewhere', '2025-01-01', { small: price }, 'anthropic')
    expect(pinPrices([old, elsewhere], { ...small, at: at('2026-06-01') })).toBe(old)
  })

  test.each(['-1', '1e-3', '1.0000000000001', '', '.5', '1,5', 'free'])('refuses %j as a price', (inputPerMTok) => {
    const refused = PriceProfile.safeParse({ ...old, models: { small: { ...price, inputPerMTok } } })
    expect(refused.error?.issues).toMatchObject([{ path: ['models', 'small', 'inputPerMTok'] }])
  })

  test.each(['2025-13-01', 'yesterday', '2025-01-01T00:00:00', ''])('refuses %j as an instant', (effectiveFrom) => {
    expect(PriceProfile.safeParse({ ...old, effectiveFrom }).error?.issues).toMatchObject([{ path: ['effectiveFrom'] }])
  })
})
