import type { RaisedLimits } from '../../domain/job/events.ts'
import { Usd } from '../../domain/money.ts'
import type { Submission } from '../../server/engine.ts'
import type { Chance } from './chance.ts'
import { type EssayInput, maxOutputTokens } from './jobs.ts'
import { model, prices, providerName } from './truth.ts'

export type Line = { readonly id: string; readonly prompt: string }

/** A job that is to be: what is submitted, and what its result is told by. */
export type Plan = { readonly submission: Submission } & (
  | { readonly kind: 'batch'; readonly lines: readonly Line[] }
  | { readonly kind: 'essay'; readonly input: EssayInput }
)

/** Roughly the worst case of one call, in thousandths of a dollar. */
const callMilliUsd = 140

const limitsOf = (chance: Chance, calls: number): RaisedLimits => {
  const few = chance.whole(1, calls)
  return chance.one<() => RaisedLimits>([
    () => ({}),
    () => ({}),
    () => ({ maximumCostUsd: Usd.parse(String(few * callMilliUsd / 1_000)) }),
    () => ({ maximumCostUsd: Usd.parse(String(few * callMilliUsd / 1_000)) }),
    () => ({ maximumCalls: few }),
    () => ({ maximumOutputTokens: few * maxOutputTokens }),
    () => ({ maximumInputTokens: few * 60 }),
    () => ({ maximumDurationSeconds: chance.between(0.2, 5) }),
    () => ({ maximumExamples: few }),
  ])()
}

export const planOf = (chance: Chance, number: number): Plan => {
  const parts = chance.whole(2, 14)
  const common = {
    projectId: chance.one(['default', 'other']),
    idempotencyKey: `plan-${number}`,
    provider: { name: providerName, baseUrl: null },
    model,
    limits: limitsOf(chance, parts),
    priceProfiles: [prices],
    maxAttempts: chance.whole(1, 4),
    callAttempts: chance.whole(1, 4),
    maxLostLeases: chance.whole(2, 6),
    onUnknown: chance.one(['resend', 'resend', 'pause'] as const),
    concurrency: chance.whole(1, 3),
    priority: chance.whole(0, 2),
    rateLimits: chance.hits(0.2)
      ? { [providerName]: chance.one([{ requestsPerMinute: 20 }, { tokensPerMinute: 1_000 }, { maximumConcurrency: 1 }]) }
      : {},
  } as const
  if (chance.hits(0.4)) {
    const input = { topic: `topic ${number}`, parts: Math.min(parts, 6) }
    const submission = { ...common, type: 'essay', files: [], input, parameters: {} }
    return { kind: 'essay', input, submission }
  }
  const lines = Array.from({ length: parts }, (_, index) => ({
    id: `line-${index}`,
    prompt: `Say something about ${index} of ${number}.`,
  }))
  const text = lines.map((line) => JSON.stringify(line)).join('\n')
  const files = [{ name: 'prompts.jsonl', content: new TextEncoder().encode(text) }]
  return { kind: 'batch', lines, submission: { ...common, type: 'batch', files, parameters: { maxOutputTokens } } }
}
