import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { memoryArtifactStore } from '../../adapters/memory/memoryArtifactStore.ts'
import { memoryEventStore } from '../../adapters/memory/memoryEventStore.ts'
import { memoryViewStore } from '../../adapters/memory/memoryViewStore.ts'
import { sqliteStore } from '../../adapters/sqlite/sqliteStore.ts'
import { sha256 } from '../../adapters/system/sha256.ts'
import { systemClock } from '../../adapters/system/systemClock.ts'
import { systemRandom } from '../../adapters/system/systemRandom.ts'
import { type JobId, jobIdOf, jobStream } from '../../domain/ids.ts'
import type { NewEvent } from '../../domain/job/events.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { StoredEvent } from '../../domain/ports/eventStore.ts'
import { chainStart, seal } from '../../domain/seal.ts'
import type { Role } from '../../server/access.ts'
import { httpServer } from '../../server/http/httpServer.ts'
import { liveRoutes } from '../../server/http/live/liveRoutes.ts'
import { silentTelemetry } from '../../server/telemetry.ts'
import { workplace } from '../../server/workplace.ts'
import { spec } from './controls.ts'

export type StoreKind = 'memory' | 'sqlite'

const storesOf = async (kind: StoreKind, clock: Clock, folder: string) =>
  kind === 'sqlite'
    ? sqliteStore(folder, clock)
    : { events: memoryEventStore(), views: memoryViewStore(), presence: null, close: async () => {} }

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'knovaryn-live-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A job whose events the test writes itself. */
export type ToldJob = {
  readonly jobId: JobId
  /** Appends so many log lines, in one append. */
  log(count?: number, message?: string): Promise<void>
}

/** The real server on a real port, over a log that the test writes. `clock` is that of the server and of its stores. */
export const liveBench = async (
  given: { readonly store?: StoreKind; readonly clock?: Clock; readonly connectionsMax?: number; readonly folder?: string } = {},
) => {
  const { store = 'memory', clock = systemClock(), connectionsMax, folder = newFolder() } = given
  const stores = await storesOf(store, clock, folder)
  const { events } = stores
  const place = workplace({
    ...stores,
    artifacts: memoryArtifactStore(sha256),
    clock,
    random: systemRandom(),
    sha256,
    telemetry: silentTelemetry,
    definitions: [],
    provider: () => null,
    ownPrices: () => [],
    providerLimits: () => ({}),
    callTimeoutMs: 1_000,
  })
  const { engine, access, engineFor, ready } = place
  const faults: string[] = []
  const fault = (what: string, error: unknown) => void faults.push(`${what}: ${error instanceof Error ? error.message : String(error)}`)
  const live = liveRoutes({ engine, engineFor, access, clock, fault, ...(connectionsMax === undefined ? {} : { connectionsMax }) })
  const server = await httpServer({ access, engineFor, ready, fault, routes: [live.routes] })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  let closing: Promise<void> | null = null
  const close = (): Promise<void> => (closing ??= server.close(0).then(() => place.close()))
  onTestFinished(close)

  const job = async (key: string, projectId = 'default'): Promise<ToldJob> => {
    const jobId = jobIdOf(projectId, key, sha256)
    const stream = jobStream(jobId)
    let [revision, hash] = [-1, chainStart(stream, sha256)]
    const append = async (news: readonly NewEvent[]): Promise<void> => {
      const unsealed = news.map(({ type, data }, index) => ({
        stream,
        revision: revision + 1 + index,
        type,
        schemaVersion: 1,
        recordedAt: new Date(clock.now()).toISOString(),
        data: JSON.stringify(data),
        meta: JSON.stringify({ projectId, actor: 'test', commandId: `c${revision + 1 + index}` }),
      }))
      const sealed = seal(unsealed, hash, sha256)
      const expected = revision === -1 ? 'no-stream' : revision
      hash = sealed.at(-1)!.hash
      revision += sealed.length
      await events.append(stream, sealed, expected)
    }
    await append([{ type: 'JobSubmitted', data: spec({ projectId, idempotencyKey: key }) }])
    return {
      jobId,
      log: (count = 1, message = 'reading') =>
        append(Array.from({ length: count }, () => ({ type: 'JobLogged', data: { level: 'info', message } }) as const)),
    }
  }

  /** All that the log holds. */
  const inLog = async (): Promise<readonly StoredEvent[]> => {
    const found: StoredEvent[] = []
    for (let after = ''; ; ) {
      const page = await events.readAll({ after, filter: { streamPrefix: 'job-' } })
      found.push(...page.events)
      if (page.atEnd) return found
      after = page.scannedTo
    }
  }

  let tokens = 0
  const token = async (role: Role = 'read', projects: readonly string[] | null = null): Promise<string> => {
    tokens += 1
    return (await access.create({ name: `${role}-${tokens}`, role, projects, expiresAt: null })).token
  }

  /** Bytes that wait in this process for each open socket. */
  const held = (): readonly number[] => [...server.app.websocketServer.clients].map(({ bufferedAmount }) => bufferedAmount)

  return { ...place, url, events, folder, held, clock, faults, connections: live.connections, job, inLog, token, close }
}
export type LiveBench = Awaited<ReturnType<typeof liveBench>>
