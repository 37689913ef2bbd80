import { StoreUnavailable } from '../domain/errors.ts'
import type { RateLimits } from '../domain/job/events.ts'
import type { Job } from '../domain/job/job.ts'
import type { ArtifactStore } from '../domain/ports/artifactStore.ts'
import type { Clock } from '../domain/ports/clock.ts'
import type { CompletionHook } from '../domain/ports/completionHook.ts'
import type { EventStore } from '../domain/ports/eventStore.ts'
import type { Sha256 } from '../domain/ports/hash.ts'
import type { Presence } from '../domain/ports/presence.ts'
import type { Provider } from '../domain/ports/provider.ts'
import type { Random } from '../domain/ports/random.ts'
import type { SnapshotStore, ViewStore } from '../domain/ports/viewStore.ts'
import type { PriceProfile } from '../domain/pricing.ts'
import { readyJobs } from '../projections/readyJobs.ts'
import { tokenAccess } from './access/tokenAccess.ts'
import type { JobDefinition } from './defineJob.ts'
import type { About, Workplace } from './engine.ts'
import { tellNow } from './hooks/tellNow.ts'
import { workAndTell } from './hooks/workAndTell.ts'
import { localEngine } from './localEngine.ts'
import { noticedViews } from './projector/noticedViews.ts'
import { projections } from './projector/projections.ts'
import { projector as newProjector } from './projector/projector.ts'
import { readiness } from './readiness.ts'
import { scopedEngine } from './scopedEngine.ts'
import type { Telemetry } from './telemetry.ts'
import { drainMsDefault, type Working, work } from './work.ts'
import { type Gate, gate } from './worker/gate.ts'

/** Everything that differs between a real process and a simulated one. */
export type WorkplaceParts = {
  readonly events: EventStore
  readonly views: ViewStore & SnapshotStore
  readonly artifacts: ArtifactStore
  /** Null where nobody can tell that another process is gone. */
  readonly presence: Presence | null
  readonly clock: Clock
  readonly random: Random
  readonly sha256: Sha256
  readonly telemetry: Telemetry
  readonly definitions: readonly JobDefinition[]
  /** Null where this process cannot reach such a provider. */
  provider(name: string, baseUrl: string | null): Provider | null
  ownPrices(provider: string): readonly PriceProfile[]
  providerLimits(provider: string): RateLimits
  /** Providers that whoever comes in with a token may name. Default: none. */
  readonly offeredProviders?: readonly string[]
  readonly callTimeoutMs: number
  /** Who is told when a job ends or pauses. Default: nobody. Asked for only by who works jobs, or tells of one. */
  hooks?(): Promise<readonly CompletionHook[]>
  /** Default: that everything is in memory. */
  about?(): About
  close(): Promise<void>
}

const inMemory: About = { store: 'memory:', sqliteVersion: null, artifacts: null, views: null }

/** An engine and a place to work, over ports alone. */
export const workplace = (parts: WorkplaceParts): Workplace => {
  const { events, clock, random, sha256, artifacts, presence, callTimeoutMs } = parts
  const health = readiness(clock)
  const telemetry: Telemetry = {
    ...parts.telemetry,
    trouble(what, error) {
      health.noticed()
      parts.telemetry.trouble(what, error)
    },
  }
  const fault = (what: string, error: unknown): void =>
    error instanceof StoreUnavailable ? telemetry.trouble(what, error) : telemetry.fault(what, error)
  const { views, onCommit } = noticedViews(parts.views)
  const definitions = new Map(parts.definitions.map((definition) => [definition.type, definition]))
  const projector = newProjector({ events, views, clock, log: telemetry, projections })
  const access = tokenAccess({ events, clock, sha256, log: telemetry })
  const closing = new AbortController()
  let projecting: Promise<void> | null = null

  const definitionOf = ({ spec }: Job): JobDefinition | null => {
    const definition = definitions.get(spec.type)
    const stages = definition?.stages.map((stage) => stage.name)
    const fits = definition?.version === spec.definitionVersion && JSON.stringify(stages) === JSON.stringify(spec.stages)
    return definition !== undefined && fits ? definition : null
  }
  const providerOf = ({ spec }: Job): Provider | null =>
    spec.provider === null ? null : parts.provider(spec.provider.name, spec.provider.baseUrl)

  const gates = new Map<string, Gate>()
  const processGate = (provider: string): Gate => {
    const known = gates.get(provider) ?? gate(parts.providerLimits(provider), clock)
    gates.set(provider, known)
    return known
  }

  const telling = { events, snapshots: views, sha256, clock, random, telemetry }
  const workshop: Working = {
    ...telling,
    artifacts,
    definitionOf,
    providerOf,
    processGate,
    callTimeoutMs,
    views: {
      store: views,
      catchUp: (aborted) => projector.catchUp(aborted),
      onReady: (listener) => onCommit(readyJobs.name, listener),
    },
    presence,
    types: [...definitions.keys()],
  }

  const close = async (): Promise<void> => {
    closing.abort()
    await Promise.all([projecting, access.close()])
    await parts.close()
  }

  const engine = localEngine({
    events,
    views,
    snapshots: views,
    artifacts,
    clock,
    random,
    sha256,
    projector,
    onTrouble: () => health.noticed(),
    notice: (message) => telemetry.notice(message),
    submitting: { definitions, provider: parts.provider, ownPrices: parts.ownPrices },
    estimating: { providerLimits: parts.providerLimits, callTimeoutMs },
    close,
  })

  const place: Pick<Workplace, 'engine' | 'access' | 'engineFor' | 'clock' | 'ready' | 'work'> = {
    engine,
    access,
    engineFor: (grant) => scopedEngine(engine, grant, parts.offeredProviders ?? []),
    clock,
    ready: () => health.ready(() => projector.catchUp()),
    async work(options, signal = new AbortController().signal) {
      projecting ??= projector.run(closing.signal)
      const working = (): Promise<void> => work(workshop, options, signal)
      // Whoever works one job tells of it once its results are where they belong.
      const hooks = options.only === undefined ? ((await parts.hooks?.()) ?? []) : []
      if (hooks.length === 0) return working()
      const graceMs = options.drainMs ?? drainMsDefault
      return workAndTell({ ...telling, views, presence }, { hooks, graceMs }, { work: working, signal })
    },
  }

  return {
    ...place,
    about: () => Promise.resolve(parts.about?.() ?? inMemory),
    async serve(options, signal) {
      const { serve } = await import('./serve.ts')
      return serve(place, { ...options, fault }, signal)
    },
    async mcp(streams, signal) {
      const { serveStdio } = await import('./mcp/serveStdio.ts')
      const agent = place.engineFor({ name: 'mcp', role: 'operate', projects: null })
      return serveStdio({ engine: agent, fault }, streams, signal)
    },
    async tellEnd(jobId, signal = new AbortController().signal) {
      return tellNow(telling, { hooks: (await parts.hooks?.()) ?? [], jobId }, signal)
    },
    close,
  }
}
