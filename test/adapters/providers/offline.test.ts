import { describe, expect, test } from 'vitest'
import { offlinePriceProfile } from '../../../adapters/price-profiles/offline.ts'
import { offlineProvider } from '../../../adapters/providers/offline.ts'
import { offlineAnswer } from '../../../adapters/providers/offlineAnswer.ts'
import { offlineTokens, withinTokens } from '../../../adapters/providers/offlineTokens.ts'
import type { Clock } from '../../../domain/ports/clock.ts'
import type { CallRequest } from '../../../domain/ports/provider.ts'
import { costOf, pinPrices } from '../../../domain/pricing.ts'

const glaciers = `Glaciers are rivers of ice. Glaciers carve valleys while the ice moves. It rained.
A valley carved by ice has the shape of a U.`

const asking = (content: string, more: Partial<CallRequest> = {}): CallRequest => ({
  model: 'offline-small',
  messages: [{ role: 'user', content }],
  maxOutputTokens: 500,
  ...more,
})
const answerTo = (content: string, more: Partial<CallRequest> = {}): string => offlineAnswer(asking(content, more)).text

/** Time stands still; every sleep is noted and over at once. */
const stillClock = () => {
  const slept: number[] = []
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    sleep: (ms) => {
      slept.push(ms)
      return ms > 1_000 ? new Promise(() => undefined) : Promise.resolve()
    },
  }
  return { clock, slept }
}

describe('the offline provider', () => {
  const send = { signal: new AbortController().signal, idempotencyKey: 'k', deadlineMs: 60_000 }

  test('gives the same request the same bytes', async () => {
    const { clock } = stillClock()
    const [first, second] = await Promise.all(
      [1, 2].map(() => offlineProvider({ clock }).complete(asking(glaciers), send)),
    )
    expect(JSON.stringify(first)).toBe(JSON.stringify(second))
  })

  test('takes its latency from the clock', async () => {
    const { clock, slept } = stillClock()
    await offlineProvider({ clock, latencyMs: 250 }).complete(asking(glaciers), send)
    expect(slept).toEqual([60_000, 250])
  })

  test('bills exactly what it counts', async () => {
    const provider = offlineProvider({ clock: stillClock().clock })
    const { text, usage } = await provider.complete(asking(glaciers, { choices: 3 }), send)
    const counted = provider.countTokens('offline-small', glaciers) ?? 0
    expect(usage?.inputTokens).toBe(counted + provider.framing.perMessage + provider.framing.perCall)
    expect(usage?.outputTokens).toBe(3 * offlineTokens(text))
  })

  test('has a price', () => {
    const wanted = { provider: 'offline', models: ['offline-small'], at: Date.UTC(2026, 5, 1) }
    const price = pinPrices([offlinePriceProfile], wanted)?.models['offline-small']
    const usage = { inputTokens: 1_000, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 100 }
    expect(price && costOf(usage, price)).toBe(700_000n)
  })
})

describe('an offline answer', () => {
  test('is made of the sentences that say most, and of the words that occur most', () => {
    const text = answerTo(glaciers)
    expect(text).toContain('Glaciers carve valleys while the ice moves.')
    expect(text).toContain('Key terms: glaciers')
    expect(text).not.toContain('It rained.')
  })

  test('is about what stands between tags or quotes, not about the orders around it', () => {
    expect(answerTo(`Summarise this text: <document>${glaciers}</document>`)).not.toContain('Summarise')
    expect(answerTo(`Summarise this text: """${glaciers}"""`)).not.toContain('Summarise')
  })

  test('in JSON has the shape the prompt shows and as many items as it asks for', () => {
    const order =
      'Write 3 questions as JSON like {"examples": [{"question": "…", "answer": "…", "tags": ["…"], "level": "easy|hard", "score": 0.5}]}.'
    const { examples } = JSON.parse(answerTo(`${order}\n<text>${glaciers}</text>`))
    expect(examples).toHaveLength(3)
    expect(new Set(examples.map((example: { answer: string }) => example.answer)).size).toBe(3)
    for (const { question, answer, level, score, tags } of examples) {
      expect(glaciers).toContain(answer)
      expect(question).toMatch(/^What is known about \w+/)
      expect(['easy', 'hard']).toContain(level)
      expect([score, tags.length]).toEqual([0.5, 1])
    }
  })

  test('in JSON gives each entry the shape in its place, and keeps the family it is of', () => {
    const shape = '{"examples":[{"family":"summary","text":"…"},{"family":"definition","quote":"…"}]}'
    const prompt = `Write 2 examples as JSON: ${shape}\n<document>${glaciers}</document>`
    expect(JSON.parse(answerTo(prompt))).toEqual({
      examples: [
        { family: 'summary', text: expect.stringMatching(/./) },
        { family: 'definition', quote: expect.stringMatching(/./) },
      ],
    })
  })

  test('in JSON has a shape of its own where the prompt shows none', () => {
    expect(Object.keys(JSON.parse(answerTo(`Answer in JSON. <text>${glaciers}</text>`)))).toEqual([
      'answer',
      'keyTerms',
    ])
  })

  test('in JSON has fewer items rather than half of one', () => {
    const order = `Give 50 items as JSON: [{"answer": ""}] <text>${glaciers}</text>`
    const { text, finishReason } = offlineAnswer(asking(order, { maxOutputTokens: 60 }))
    expect(finishReason).toBe('stop')
    expect(JSON.parse(text).length).toBeGreaterThan(0)
    expect(offlineTokens(text)).toBeLessThanOrEqual(60)
  })

  test('is cut at the most tokens it may have, and says so', () => {
    const { text, finishReason } = offlineAnswer(asking(glaciers, { maxOutputTokens: 4 }))
    expect([offlineTokens(text), finishReason]).toEqual([4, 'length'])
  })

  test('of another seed is another', () => {
    expect(answerTo(glaciers, { seed: 1 })).not.toBe(answerTo(glaciers, { seed: 2 }))
  })

  test.each(['', ' ', '🔥', '{{{[[["', '<a><a><a>', 'json {', '漢字。漢字。', 'Give 0 items as JSON []'])(
    'comes for %j too',
    (content) => {
      expect(answerTo(content)).not.toBe('')
    },
  )

  test('takes no longer than its prompt is long', () => {
    const prompts = [
      '<a>'.repeat(100_000),
      '"""'.repeat(99_999),
      'a'.repeat(1e6),
      ' '.repeat(1e6),
      `json ${'{'.repeat(1e5)}`,
    ]
    const startedAt = performance.now()
    for (const prompt of prompts) answerTo(prompt)
    // Quadratic time would be over ten seconds for the first alone.
    expect(performance.now() - startedAt).toBeLessThan(5_000)
  })

  test('O-13: keeps a __proto__ key of the shape as a key', () => {
    const text = answerTo(`JSON like {"__proto__": "…", "answer": "…"} <text>${glaciers}</text>`)
    expect(Object.keys(JSON.parse(text))).toEqual(['__proto__', 'answer'])
  })
})

describe('offline tokens', () => {
  test.each([
    ['', 0],
    ['hello', 1],
    ['glaciers', 2],
    ['hello world', 2],
    ['12345', 2],
    ['a, b', 3],
    ['🔥🔥', 2],
    ['end \n', 2],
    ['  ', 1],
  ])('%j has %i', (text, tokens) => expect(offlineTokens(text)).toBe(tokens))

  test('put together are the text', () => {
    const text = `  ${glaciers} 🔥 漢字 \ud83d \u0000 \n`
    expect(withinTokens(text, offlineTokens(text))).toBe(text)
    expect(text.startsWith(withinTokens(text, 7))).toBe(true)
    expect(withinTokens(text, 0)).toBe('')
  })
})
