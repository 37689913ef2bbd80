import { sha256 } from '../../adapters/system/sha256.ts'
import type { Presence } from '../../domain/ports/presence.ts'
import type { JobDefinition } from '../../server/defineJob.ts'
import type { Workplace } from '../../server/engine.ts'
import { silentTelemetry, type Telemetry } from '../../server/telemetry.ts'
import { workplace } from '../../server/workplace.ts'
import type { Faults } from './faults.ts'
import { gatedArtifacts, gatedEvents, gatedViews, type SharedStores } from './gatedStores.ts'
import type { Host } from './host.ts'
import { providerName } from './truth.ts'
import type { SimulatedProvider } from './provider.ts'
import type { Trace } from './trace.ts'
import type { Watch } from './watch.ts'

/** One run of the program: from its start until it is drained or dies. */
export type Process = {
  readonly host: Host
  readonly workplace: Workplace
  /** Asks it to stop in good order. */
  drain(): void
  readonly isOver: boolean
}

export type ProcessDeps = {
  readonly shared: SharedStores
  readonly faults: Faults
  readonly provider: SimulatedProvider
  readonly definitions: readonly JobDefinition[]
  readonly trace: Trace
  readonly watch: Watch
  readonly presence: Presence | null
  readonly working: { slots: number; leaseMs: number; drainMs: number; callTimeoutMs: number } | null
}

/** Starts the engine in a simulated process, and a worker where it is to work. */
export const startProcess = (host: Host, deps: ProcessDeps): Process => {
  const { shared, faults, watch, trace, working } = deps
  const stop = new AbortController()
  let isOver = false

  const telemetry: Telemetry = {
    ...silentTelemetry,
    claimed: (jobId, token) => trace.note(`${host.name} claimed ${jobId} ${token}`),
    claimLost: () => watch.count('claim lost'),
    leaseLost: (jobId, token) => {
      trace.note(`${host.name} lost ${jobId} ${token}`)
      watch.count('lease lost')
    },
    leaseExpired: () => watch.count('lease expired'),
    trouble: () => watch.count('trouble'),
    fault: (what, error) =>
      watch.broken('nothingFails', `${host.name}: ${what}: ${error instanceof Error ? error.stack : String(error)}`),
  }
  const place = workplace({
    events: gatedEvents(host, shared, faults),
    views: gatedViews(host, shared),
    artifacts: gatedArtifacts(host, shared),
    presence: deps.presence,
    clock: host.clock,
    random: host.random,
    sha256,
    telemetry,
    definitions: deps.definitions,
    provider: (name) => (name === providerName ? deps.provider.at(host) : null),
    ownPrices: () => [],
    providerLimits: () => ({}),
    callTimeoutMs: working?.callTimeoutMs ?? 1_000,
    close: async () => {},
  })

  if (working !== null) {
    const { slots, leaseMs, drainMs } = working
    place
      .work({ workerId: host.name, slots, leaseMs, drainMs }, stop.signal)
      .then(() => place.close())
      .then(
        () => {
          trace.note(`${host.name} is drained`)
          isOver = true
        },
        (error: unknown) =>
          watch.broken('workersStay', `${host.name} stopped: ${error instanceof Error ? error.stack : String(error)}`),
      )
  }
  return {
    host,
    workplace: place,
    drain() {
      trace.note(`${host.name} is asked to stop`)
      stop.abort()
    },
    get isOver() {
      return isOver || host.state === 'dead'
    },
  }
}
