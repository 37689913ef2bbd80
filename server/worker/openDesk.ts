import type { JobSpec } from '../../domain/job/events.ts'
import { PriceProfile } from '../../domain/pricing.ts'
import type { Workshop } from './attempt.ts'
import { type Contents, contents } from './contents.ts'
import type { Desk } from './desk.ts'
import { gate } from './gate.ts'
import { lateAnswers } from './lateAnswers.ts'

/** Lays out what an attempt that has started works with. Raises `ContentMissing` when the job's prices are gone. */
export const openDesk = async (
  shop: Workshop,
  begun: Pick<Desk, 'jobId' | 'writer' | 'index' | 'calls' | 'stopping' | 'said' | 'ask' | 'waits'>,
): Promise<Desk> => {
  const { clock, random, sha256, events, workerId, artifacts } = shop
  const { writer, stopping } = begun
  const { spec } = writer.job
  const onTrouble: Parameters<typeof contents>[0]['onTrouble'] = (error) => shop.telemetry.trouble('artifacts', error)
  const stored = contents({ artifacts, clock, onTrouble }, spec.projectId, stopping.abandon)
  const startedAt = clock.monotonic()
  const workedBeforeMs = writer.job.durationMs

  const durationLeftMs = (): number | null => {
    const { maximumDurationSeconds } = writer.job.limits
    if (maximumDurationSeconds === null) return null
    return maximumDurationSeconds * 1_000 - workedBeforeMs - (clock.monotonic() - startedAt)
  }

  return {
    ...begun,
    spec,
    workerId,
    contents: stored,
    events,
    late: lateAnswers({ events, sha256 }),
    provider: shop.providerOf(writer.job),
    prices: await pinnedPrices(spec, stored),
    gates: gatesOf(shop, begun, spec),
    clock,
    random,
    sha256,
    durationLeftMs,
    callTimeoutMs: () => Math.max(1, Math.min(shop.callTimeoutMs, durationLeftMs() ?? Infinity)),
  }
}

const pinnedPrices = async (spec: JobSpec, stored: Contents): Promise<PriceProfile | null> => {
  if (spec.priceProfile === null) return null
  const { sha256 } = spec.priceProfile
  const bytes = await stored.getBytes({ sha256, bytes: 0, mediaType: 'application/json' })
  return PriceProfile.parse(JSON.parse(new TextDecoder().decode(bytes)))
}

/** The job's own limits, with the last minute's calls as the log tells them, then those of this process. */
const gatesOf = (shop: Workshop, begun: Pick<Desk, 'index'>, spec: JobSpec): Desk['gates'] => {
  if (spec.provider === null) return []
  const { name } = spec.provider
  const limits = spec.rateLimits[name] ?? {}
  const maximumConcurrency = Math.min(spec.concurrency, limits.maximumConcurrency ?? Infinity)
  const own = gate({ ...limits, maximumConcurrency }, shop.clock)
  // Where another's clock is a little ahead of ours they seem to be still to come.
  for (const { at, tokens } of begun.index.recentCalls(shop.clock.now())) own.remember(tokens, Math.max(0, shop.clock.now() - at))
  return [
    { gate: own, whose: 'job' },
    { gate: shop.processGate(name), whose: 'process' },
  ]
}
