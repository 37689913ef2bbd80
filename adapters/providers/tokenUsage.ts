import { Usage } from '../../domain/pricing.ts'

/** Whether a provider's count of input includes what it read from and wrote to its cache, or stands beside both. */
export type UsageDialect = 'cached_inside' | 'cached_beside'

/** Numbers as they were reported, under one name whatever the protocol calls them. Null or undefined: not told. */
export type ReportedUsage = {
  readonly input: unknown
  readonly cached: unknown
  readonly written: unknown
  readonly output: unknown
  readonly reasoning: unknown
  /** All input and all output. */
  readonly total?: unknown
}

/**
 * Tokens in the engine's terms, where kinds of input never overlap and reasoning is part of the output. Null for
 * numbers that are missing or cannot be (negative, fractional, more cached than there was input): the call is then
 * charged at its worst case.
 */
export const tokenUsage = (reported: ReportedUsage, dialect: UsageDialect): Usage | null => {
  const { input, output } = reported
  const cached = reported.cached ?? 0
  const written = reported.written ?? 0
  const reasoning = reported.reasoning ?? 0
  if (typeof input !== 'number' || typeof output !== 'number') return null
  if (typeof cached !== 'number' || typeof written !== 'number' || typeof reasoning !== 'number') return null
  const fresh = dialect === 'cached_inside' ? input - cached - written : input
  const inputs = [input, fresh + cached + written]
  const isInside = inputs.some((all) => reported.total === all + output)
  // Some providers leave reasoning out of the output they count, which shows in a total that adds up only with it.
  const isBeside = !isInside && inputs.some((all) => reported.total === all + output + reasoning)
  const usage = Usage.safeParse({
    inputTokens: fresh,
    cachedInputTokens: cached,
    cacheWriteTokens: written,
    outputTokens: isBeside ? output + reasoning : output,
    ...((reported.reasoning ?? null) === null ? {} : { reasoningTokens: reasoning }),
  })
  return usage.success && reasoning <= usage.data.outputTokens ? usage.data : null
}
