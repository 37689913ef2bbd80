import { memoryArtifactStore } from '../../adapters/memory/memoryArtifactStore.ts'
import { sha256 } from '../../adapters/system/sha256.ts'
import { jobIdOf, jobStream } from '../../domain/ids.ts'
import type { Command } from '../../domain/job/commands.ts'
import type { ArtifactStore } from '../../domain/ports/artifactStore.ts'
import { beforeAll, type EventStore, type SealedEvent, type StoredEvent } from '../../domain/ports/eventStore.ts'
import { usd } from '../../domain/money.ts'
import { costOf, type ModelPrice, PriceProfile, worstCaseCost } from '../../domain/pricing.ts'
import { isRejection } from '../../domain/rejection.ts'
import { chainStart, seal } from '../../domain/seal.ts'
import { decideInTurn } from '../../server/command/decideInTurn.ts'
import { emptyJob, type LoadedJob } from '../../server/command/loadJob.ts'
import { command, projectId, usage } from '../support/controls.ts'
import { commandOf, type Throw } from '../domain/randomCommands.ts'

const price: ModelPrice = { inputPerMTok: '250', cachedInputPerMTok: '25', outputPerMTok: '375' }
const profile = new TextEncoder().encode(
  JSON.stringify(
    PriceProfile.parse({ id: 'prices', effectiveFrom: '2026-01-01', provider: 'offline', models: { small: price } }),
  ),
)

/** By which every job here is priced. */
export const priceProfile = { id: 'prices', sha256: sha256(profile) }

/** A store that holds the price profile. */
export const storeWithPrices = async (): Promise<ArtifactStore> => {
  const artifacts = memoryArtifactStore(sha256)
  await artifacts.put(projectId, profile)
  return artifacts
}

/** The command at the prices of the profile. */
const priced = (sent: Command, key: string): Command => {
  if (sent.type === 'SubmitJob') return { ...sent, spec: { ...sent.spec, priceProfile, idempotencyKey: key } }
  if (sent.type === 'ReserveCall') {
    return { ...sent, worstCase: { ...sent.worstCase, costUsd: usd(worstCaseCost(sent.worstCase, price)) } }
  }
  return sent.type === 'SettleCall' && sent.usage !== null ? { ...sent, costUsd: usd(costOf(sent.usage, price)) } : sent
}

/** The stored bytes of the job that these commands make, as the engine writes them. Refused commands write nothing. */
const written = (key: string, count: number, nextCommand: (index: number, loaded: LoadedJob) => Command) => {
  let loaded = emptyJob(jobIdOf(projectId, key, sha256), sha256)
  const events: SealedEvent[] = []
  const refused: string[] = []
  for (let index = 0; index < count; index += 1) {
    const { outcomes, sealed, next } = decideInTurn(loaded, [priced(nextCommand(index, loaded), key)], sha256)
    for (const outcome of outcomes) if (isRejection(outcome)) refused.push(outcome.message)
    events.push(...sealed)
    loaded = next
  }
  return { events, refused }
}

export const randomJob = (key: string, thrown: readonly Throw[]): readonly SealedEvent[] =>
  written(key, thrown.length, (index, { job }) => commandOf(thrown[index] as Throw, job, index * 10)).events

/** The events of these commands, none of which may be refused. */
export const jobOf = (key: string, ...commands: readonly Command[]): readonly SealedEvent[] => {
  const { events, refused } = written(key, commands.length, (index) => commands[index] as Command)
  if (refused.length > 0) throw new Error(`refused: ${refused.join('; ')}`)
  return events
}

const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens } = usage

/** Two calls, two stages, success: 10 events, of which revision 4 settles the first call. */
export const succeeded = (key: string): readonly SealedEvent[] =>
  jobOf(
    key,
    command.SubmitJob(),
    command.ClaimJob(),
    command.StartJob(),
    command.ReserveCall(),
    command.SettleCall({ usage: { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens } }),
    command.CompleteStage(),
    command.ReserveCall({ stage: 'generate', callKey: 'key-2' }),
    command.SettleCall({ call: 2 }),
    command.CompleteStage({ stage: 'generate' }),
    command.SucceedJob(),
  )

const positionOf = (index: number): string => String(index + 1).padStart(12, '0')

/** The events in log order, one after the other. */
export const placed = (events: readonly SealedEvent[]): readonly StoredEvent[] =>
  events.map((event, index) => ({ ...event, position: positionOf(index) }))

/** One event of each stream in turn. */
export const interleaved = (streams: readonly (readonly SealedEvent[])[]): readonly StoredEvent[] => {
  const longest = Math.max(0, ...streams.map((events) => events.length))
  return placed(Array.from({ length: longest }, (_, index) => streams.flatMap((events) => events[index] ?? [])).flat())
}

/** A log that holds exactly this, whatever it is: as somebody may leave it who has the file open. */
export const logOf = (events: readonly StoredEvent[]): Pick<EventStore, 'readStream' | 'readAll'> => ({
  readStream: async (stream, { from = 0, limit = 1_000 } = {}) =>
    events
      .filter((event) => event.stream === stream && event.revision >= from)
      .toSorted((left, right) => left.revision - right.revision)
      .slice(0, limit),
  readAll: async ({ after = beforeAll, limit = 1_000 } = {}) => {
    const start = after === beforeAll ? 0 : events.findIndex(({ position }) => position === after) + 1
    const page = events.slice(start, start + limit)
    return { events: page, scannedTo: page.at(-1)?.position ?? after, atEnd: start + limit >= events.length }
  },
})

/** The same events with every hash and id made anew, as a forger does who knows how. */
export const resealed = (events: readonly SealedEvent[]): readonly SealedEvent[] => {
  const stream = events[0]?.stream ?? ''
  return seal(events.map((event) => ({ ...event, stream })), chainStart(stream, sha256), sha256)
}

/** The events with the one at this revision changed. */
export const changed = (
  events: readonly SealedEvent[],
  revision: number,
  change: (event: SealedEvent) => Partial<SealedEvent>,
): readonly SealedEvent[] =>
  events.map((event) => (event.revision === revision ? { ...event, ...change(event) } : event))

export const streamOf = (key: string): string => jobStream(jobIdOf(projectId, key, sha256))
