import { getEventListeners } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ProviderError } from '../../domain/errors.ts'
import { worstCaseTokens } from '../../domain/pricing.ts'
import type { CallRequest, Provider } from '../../domain/ports/provider.ts'

export type ProviderUnderTest = {
  readonly provider: Provider
  /** One that answers no sooner than after a minute. */
  readonly slow: Provider
  readonly model: string
  close(): Promise<void>
}

/** What every provider adapter promises (`domain/ports/provider.ts`). */
export const providerContract = (name: string, open: () => Promise<ProviderUnderTest>): void => {
  describe(`${name} as a provider`, () => {
    let under: ProviderUnderTest
    beforeAll(async () => {
      under = await open()
    })
    afterAll(() => under.close())

    const question = (content: string, more: Partial<CallRequest> = {}): CallRequest => ({
      model: under.model,
      messages: [
        { role: 'system', content: 'Answer shortly.' },
        { role: 'user', content },
      ],
      maxOutputTokens: 200,
      ...more,
    })
    const sending = (more: Partial<Parameters<Provider['complete']>[1]> = {}) => ({
      signal: new AbortController().signal,
      idempotencyKey: 'job:call:1',
      deadlineMs: 10_000,
      ...more,
    })
    const failureOf = async (answer: Promise<unknown>): Promise<ProviderError> => {
      const fault = await answer.then(
        () => new Error('it answered'),
        (error: unknown) => error,
      )
      expect(fault).toBeInstanceOf(ProviderError)
      return fault as ProviderError
    }

    test('says its name, its framing and how long it replays in numbers that can be reckoned with', () => {
      expect(under.provider.name).toMatch(/^[a-z][\w-]*$/)
      const { perCall, perMessage } = under.provider.framing
      for (const count of [perCall, perMessage, under.provider.replaysForSeconds]) {
        expect(Number.isInteger(count) && count >= 0).toBe(true)
      }
    })

    test('answers with text, a reason to stop and usage', async () => {
      const answer = await under.provider.complete(question('Rivers carry sand to the sea.'), sending())
      expect(answer.text).not.toBe('')
      expect(answer.finishReason).toBe('stop')
      expect(answer.usage).toMatchObject({ cachedInputTokens: 0, cacheWriteTokens: 0 })
    })

    test('bills no more tokens than the worst case counted before the call', async () => {
      const request = question('Glaciers move. '.repeat(50), { maxOutputTokens: 40 })
      const worst = worstCaseTokens(request, under.provider)
      const { usage } = await under.provider.complete(request, sending())
      expect(usage?.inputTokens).toBeLessThanOrEqual(worst.inputTokens)
      expect(usage?.outputTokens).toBeLessThanOrEqual(worst.outputTokens)
    })

    test('counts tokens as a whole number, or not at all', () => {
      for (const text of [
        '',
        'word',
        '漢字 🔥',
        '<|endoftext|>',
        'half \ud83d',
        ' '.repeat(100_000),
        '🔥'.repeat(50_000),
      ]) {
        const tokens = under.provider.countTokens(under.model, text)
        expect(tokens === null || (Number.isInteger(tokens) && tokens >= 0)).toBe(true)
      }
    })

    test('answers fifty calls at a time, each its own', async () => {
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          under.provider.complete(
            question(`Parcel ${index} arrived.`),
            sending({ idempotencyKey: `job:call:${index}` }),
          ),
        ),
      )
      answers.forEach((answer, index) => expect(answer.text).toContain(`Parcel ${index} arrived.`))
    })

    test('never hands on half a character', async () => {
      const answer = await under.provider.complete(question('It ends in half a flame: \ud83d'), sending())
      expect(answer.text).not.toMatch(/\p{Surrogate}/u)
    })

    test('raises timeout, billed unknown, at once when the call is aborted', async () => {
      const stop = new AbortController()
      const answer = under.slow.complete(question('Wait.'), sending({ signal: stop.signal, deadlineMs: 60_000 }))
      setImmediate(() => stop.abort())
      expect(await failureOf(answer)).toMatchObject({ code: 'timeout', kind: 'transient', billed: 'unknown' })
    })

    test('raises timeout, billed unknown, when the deadline has passed', async () => {
      const failure = await failureOf(under.slow.complete(question('Wait.'), sending({ deadlineMs: 20 })))
      expect(failure).toMatchObject({ code: 'timeout', kind: 'transient', billed: 'unknown', retryable: true })
    })

    test('sends nothing, and so owes nothing, when the call is aborted before it', async () => {
      const signal = AbortSignal.abort()
      expect(await failureOf(under.provider.complete(question('Never.'), sending({ signal })))).toMatchObject({
        code: 'timeout',
        billed: 'no',
      })
    })

    test('leaves nothing on a signal that many calls share', async () => {
      const warnings: Error[] = []
      const note = (warning: Error): void => void warnings.push(warning)
      process.on('warning', note)
      const { signal } = new AbortController()
      await Promise.all(
        Array.from({ length: 20 }, () => under.provider.complete(question('Again.'), sending({ signal }))),
      )
      await new Promise(setImmediate)
      process.off('warning', note)
      expect(warnings).toEqual([])
      expect(getEventListeners(signal, 'abort')).toEqual([])
    })
  })
}
