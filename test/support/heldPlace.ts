import { z } from 'zod'
import { memoryArtifactStore } from '../../adapters/memory/memoryArtifactStore.ts'
import { memoryEventStore } from '../../adapters/memory/memoryEventStore.ts'
import { memoryViewStore } from '../../adapters/memory/memoryViewStore.ts'
import { sha256 } from '../../adapters/system/sha256.ts'
import { ProviderError } from '../../domain/errors.ts'
import type { JobEvent } from '../../domain/job/events.ts'
import type { CallRequest, Provider, ProviderAnswer } from '../../domain/ports/provider.ts'
import { defineJob, type JobDefinition, type StageContext } from '../../server/defineJob.ts'
import type { Submission, Workplace } from '../../server/engine.ts'
import { type Telemetry, silentTelemetry } from '../../server/telemetry.ts'
import { workplace, type WorkplaceParts } from '../../server/workplace.ts'
import { manualClock } from './manualClock.ts'

/** A send as the provider sees it, held until the test says what becomes of it. */
export type HeldSend = {
  readonly request: CallRequest
  readonly idempotencyKey: string
  readonly signal: AbortSignal
  answer(text?: string, over?: Partial<ProviderAnswer>): void
  fail(failure: Partial<ConstructorParameters<typeof ProviderError>[0]>): void
}

/** A provider that answers nothing by itself. */
export const heldProvider = (over: Partial<Provider> = {}) => {
  const sends: HeldSend[] = []
  const provider: Provider = {
    name: 'held',
    replaysForSeconds: 0,
    framing: { perCall: 0, perMessage: 0 },
    countTokens: (_model, text) => text.length,
    complete: (request, { signal, idempotencyKey }) =>
      new Promise((resolve, reject) => {
        const cut = (): void => reject(new ProviderError({ code: 'timeout', message: 'cut', kind: 'transient', billed: 'unknown' }))
        signal.addEventListener('abort', cut)
        const done = (): void => signal.removeEventListener('abort', cut)
        sends.push({
          request,
          idempotencyKey,
          signal,
          answer(text = 'an answer', answer = {}) {
            done()
            const usage = { inputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 1 }
            resolve({ text, finishReason: 'stop', usage, ...answer })
          },
          fail(failure) {
            done()
            reject(new ProviderError({ code: 'broken', message: 'broken', kind: 'transient', billed: 'no', ...failure }))
          },
        })
      }),
    ...over,
  }
  return { provider, sends }
}

/** A dollar a call at worst and in fact: ten output tokens at ten cents. */
const dollarACall = {
  id: 'dollar',
  effectiveFrom: '2026-01-01',
  provider: 'held',
  models: { m: { inputPerMTok: '0', cachedInputPerMTok: '0', outputPerMTok: '0', perCall: '1' } },
}

/** A job of one stage that does what the test says. */
export const jobThat = (run: (ctx: StageContext<unknown>) => Promise<unknown>): JobDefinition =>
  defineJob({ type: 'custom', version: 1, input: z.unknown(), stages: [{ name: 'only', run }] })

export const asks = (...keys: readonly string[]) =>
  jobThat(async (ctx) => {
    const texts: string[] = []
    await ctx.each(keys, async (key) => {
      const answer = await ctx.call({ key, messages: [{ role: 'user', content: 'why?' }], maxOutputTokens: 10 })
      texts.push(answer.text)
    })
    return texts
  })

/** Stores in memory and time in the test's hand, shared by as many workplaces as it opens. */
export const heldWorld = (definition: JobDefinition, provider: Provider) => {
  const clock = manualClock()
  const events = memoryEventStore()
  const views = memoryViewStore()
  const artifacts = memoryArtifactStore(sha256)
  let ids = 0
  const log: string[] = []
  const telemetry: Telemetry = {
    ...silentTelemetry,
    leaseLost: (_, token) => void log.push(`lost ${token}`),
    fault: (what, error) => void log.push(`fault ${what}: ${String(error)}`),
  }
  // Their clock is the one of the world, which a test moves.
  const open = (over: Partial<WorkplaceParts> = {}): Omit<Workplace, 'clock'> =>
    workplace({
      events,
      views,
      artifacts,
      presence: null,
      clock,
      random: { luck: () => 0.5, id: () => `id-${(ids += 1)}` },
      sha256,
      telemetry,
      definitions: [definition],
      provider: () => provider,
      ownPrices: () => [],
      providerLimits: () => ({}),
      callTimeoutMs: 600_000,
      close: async () => {},
      ...over,
    })
  const submission = (over: Partial<Submission> = {}): Submission => ({
    projectId: 'default',
    type: 'custom',
    files: [],
    input: null,
    provider: { name: 'held', baseUrl: null },
    model: 'm',
    parameters: {},
    priceProfiles: [dollarACall],
    ...over,
  })
  const typesOf = async (jobId: string): Promise<readonly string[]> =>
    (await events.readStream(`job-${jobId}`)).map((event) => event.type)
  const dataOf = async <T extends JobEvent['type']>(jobId: string, type: T) =>
    (await events.readStream(`job-${jobId}`))
      .filter((event) => event.type === type)
      .map((event) => JSON.parse(event.data) as Extract<JobEvent, { type: T }>['data'])
  return { clock, events, views, artifacts, log, open, submission, typesOf, dataOf }
}
