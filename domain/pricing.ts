import { z } from 'zod'
import { InvalidInputError } from './errors.ts'
import type { NanoUsd } from './money.ts'
import { utf8Bytes } from './utf8.ts'
import { recordOf } from './recordOf.ts'

/** US dollars per million tokens, or per call, as a decimal string. */
const Price = z
  .string()
  .regex(/^(0|[1-9]\d{0,8})(\.\d{1,12})?$/, 'must be US dollars as a plain decimal string such as "2.50"')

export const ModelPrice = z.strictObject({
  inputPerMTok: Price,
  cachedInputPerMTok: Price,
  cacheWritePerMTok: Price.optional(),
  outputPerMTok: Price,
  perCall: Price.optional(),
})
export type ModelPrice = z.infer<typeof ModelPrice>

/** What a provider charges from an instant on. Given by the user; the engine knows no price of its own. */
export const PriceProfile = z.strictObject({
  id: z.string().min(1).max(200),
  /** A date (00:00 UTC) or an instant. */
  effectiveFrom: z.union([z.iso.date(), z.iso.datetime({ offset: true })], {
    error: 'must be a date such as 2026-01-31, or an instant with its offset such as 2026-01-31T08:00:00Z',
  }),
  provider: z.string().min(1).max(100),
  models: recordOf(z.string().min(1).max(200), ModelPrice),
})
export type PriceProfile = z.infer<typeof PriceProfile>

/**
 * Tokens of one call. The three kinds of input never overlap: `inputTokens` excludes what was read from or
 * written to the provider's cache, whichever dialect the provider speaks.
 */
export const Usage = z.strictObject({
  inputTokens: z.int().nonnegative(),
  cachedInputTokens: z.int().nonnegative(),
  cacheWriteTokens: z.int().nonnegative(),
  outputTokens: z.int().nonnegative(),
  /** Part of `outputTokens`, where the provider tells it. */
  reasoningTokens: z.int().nonnegative().optional(),
})
export type Usage = z.infer<typeof Usage>

/** All input of a call, however it was priced. */
export const inputTokensOf = (usage: Usage): number =>
  usage.inputTokens + usage.cachedInputTokens + usage.cacheWriteTokens

// Prices have up to twelve decimals and are per million tokens: one unit below is 1e-18 USD, so nothing is lost
// before the single rounding at the end.
const unitsPerNanoUsd = 1_000_000_000n

const scaled = (price: string, decimals: number): bigint => {
  const [whole = '0', fraction = ''] = price.split('.')
  return BigInt(whole + fraction.padEnd(decimals, '0').slice(0, decimals))
}
const perToken = (price: string): bigint => scaled(price, 12)
const perCall = (price: string | undefined): bigint => (price === undefined ? 0n : scaled(price, 18))

const roundedUp = (units: bigint): NanoUsd => (units + unitsPerNanoUsd - 1n) / unitsPerNanoUsd

/** What a call costs in nano-USD, rounded up once, at the end. */
export const costOf = (usage: Usage, price: ModelPrice): NanoUsd =>
  roundedUp(
    BigInt(usage.inputTokens) * perToken(price.inputPerMTok) +
      BigInt(usage.cachedInputTokens) * perToken(price.cachedInputPerMTok) +
      BigInt(usage.cacheWriteTokens) * perToken(price.cacheWritePerMTok ?? price.inputPerMTok) +
      BigInt(usage.outputTokens) * perToken(price.outputPerMTok) +
      perCall(price.perCall),
  )

/** The most a call can cost in nano-USD: every input token at the dearest input price. */
export const worstCaseCost = (tokens: { inputTokens: number; outputTokens: number }, price: ModelPrice): NanoUsd => {
  const inputPrices = [price.inputPerMTok, price.cachedInputPerMTok, price.cacheWritePerMTok ?? '0'].map(perToken)
  const dearest = inputPrices.reduce((most, each) => (each > most ? each : most))
  return roundedUp(
    BigInt(tokens.inputTokens) * dearest +
      BigInt(tokens.outputTokens) * perToken(price.outputPerMTok) +
      perCall(price.perCall),
  )
}

/**
 * The most tokens a call can use: by the model's tokenizer where it is known, else a token a UTF-8 byte
 * (no byte-level tokenizer makes more), plus what the provider adds around each message and the call.
 */
export const worstCaseTokens = (
  request: {
    readonly model: string
    readonly messages: readonly { readonly content: string }[]
    readonly maxOutputTokens: number
    readonly choices?: number
  },
  provider: {
    readonly framing: { readonly perCall: number; readonly perMessage: number }
    countTokens(model: string, text: string): number | null
  },
): { inputTokens: number; outputTokens: number } => ({
  inputTokens: request.messages.reduce(
    (sum, message) =>
      sum +
      provider.framing.perMessage +
      (provider.countTokens(request.model, message.content) ?? utf8Bytes(message.content)),
    provider.framing.perCall,
  ),
  outputTokens: request.maxOutputTokens * (request.choices ?? 1),
})

const effectiveAt = (profile: PriceProfile): number => Date.parse(profile.effectiveFrom)

/**
 * The one profile a job is priced by: for each model, of the profiles in force at `at` (ms since 1970), the latest.
 * A model that none prices is left out. Raises `InvalidInputError` when two profiles price the same model of the
 * same provider from the same instant.
 */
export const pinPrices = (
  profiles: readonly PriceProfile[],
  wanted: { provider: string; models: readonly string[]; at: number },
): PriceProfile | null => {
  refuseOverlaps(profiles)
  const inForce = profiles
    .filter((profile) => profile.provider === wanted.provider && effectiveAt(profile) <= wanted.at)
    .sort((left, right) => effectiveAt(right) - effectiveAt(left))
  const used = new Set<PriceProfile>()
  const models: Record<string, ModelPrice> = {}
  for (const model of wanted.models) {
    const profile = inForce.find((each) => Object.hasOwn(each.models, model))
    const price = profile?.models[model]
    if (profile === undefined || price === undefined) continue
    used.add(profile)
    models[model] = price
  }
  const [latest, ...earlier] = [...used].sort((left, right) => effectiveAt(right) - effectiveAt(left))
  if (latest === undefined || earlier.length === 0) return latest ?? null
  const ids = [...used].map((profile) => profile.id).sort()
  return { id: ids.join('+'), effectiveFrom: latest.effectiveFrom, provider: wanted.provider, models }
}

const refuseOverlaps = (profiles: readonly PriceProfile[]): void => {
  const seen = new Map<string, string>()
  for (const profile of profiles) {
    for (const model of Object.keys(profile.models)) {
      const place = JSON.stringify([profile.provider, model, effectiveAt(profile)])
      const other = seen.get(place)
      if (other !== undefined) {
        throw new InvalidInputError(
          `price profiles "${other}" and "${profile.id}" both price ${profile.provider} ${model} from ` +
            `${profile.effectiveFrom}: give each model one price at any instant`,
          { profiles: [other, profile.id], provider: profile.provider, model, effectiveFrom: profile.effectiveFrom },
        )
      }
      seen.set(place, profile.id)
    }
  }
}
