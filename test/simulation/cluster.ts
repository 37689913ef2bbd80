import type { Presence } from '../../domain/ports/presence.ts'
import type { Engine } from '../../server/engine.ts'
import type { Chance } from './chance.ts'
import type { Weather } from './faults.ts'
import { type Host, host as newHost } from './host.ts'
import { type Process, type ProcessDeps, startProcess } from './process.ts'
import type { Scheduler } from './scheduler.ts'

/** The processes of a world, each in a place of its own, where another takes over after it. */
export type Cluster = {
  /** Some process that can be spoken to. */
  someEngine(): Engine
  /** Begins what befalls processes. */
  storm(): void
  thawAll(): void
  /** Starts another process wherever one has ended. */
  refill(): void
  drainAll(): void
  isAtWork(): boolean
  isDead(workerId: string): boolean
  /** How long a call may take. */
  readonly callTimeoutMs: number
  /** A process that only takes commands. */
  newcomer(): Process
}

type ClusterDeps = Omit<ProcessDeps, 'presence' | 'working'> & {
  readonly chance: Chance
  readonly scheduler: Scheduler
  readonly weather: Weather
  /** One wall clock, and an end of a process is seen by the others. */
  readonly oneMachine: boolean
}

const worldStart = Date.UTC(2026, 0, 1)
const skewMsMax = 600_000
const restartMsMax = 12_000

export const cluster = (deps: ClusterDeps): Cluster => {
  const { chance, scheduler, weather, faults, trace, watch, oneMachine } = deps
  const hosts = new Map<string, Host>()
  const processes: Process[] = []
  const fates = chance.fork()
  const timing = {
    leaseMs: chance.whole(1_000, 6_000),
    drainMs: chance.whole(500, 6_000),
    callTimeoutMs: chance.whole(800, 8_000),
  }
  const workplaces = chance.one([1, 2, 2, 3])
  const isDead = (workerId: string): boolean => hosts.get(workerId)?.state === 'dead'
  const presence: Presence | null = oneMachine
    ? {
        announce: async () => async () => {},
        isGone: async (workerId) => isDead(workerId),
      }
    : null

  const start = (place: number): Process => {
    const name = `p${place}-${hosts.size + 1}`
    const host: Host = newHost({
      name,
      chance: chance.fork(),
      scheduler,
      faults,
      trace,
      wallStart: worldStart + (oneMachine ? 0 : chance.between(-skewMsMax, skewMsMax)),
      oneMachine,
      onMoment: (what) => {
        if (!faults.hits(what === 'send' ? 'strikesAtSends' : 'strikesAtWrites')) return
        scheduler.after(0, () => (fates.hits(0.8) ? freeze(host) : kill(place, host)))
      },
    })
    hosts.set(name, host)
    trace.note(`${name} starts`)
    // The last place only takes commands.
    const working = place < workplaces ? { ...timing, slots: chance.whole(1, 3) } : null
    const process = startProcess(host, { ...deps, presence, working })
    processes[place] = process
    return process
  }
  for (let place = 0; place <= workplaces; place += 1) start(place)

  const freeze = (host: Host): void => {
    if (host.state !== 'alive') return
    watch.count('freeze')
    host.freeze()
    scheduler.after(fates.between(10, timing.leaseMs * 3), host.thaw)
  }
  const kill = (place: number, host: Host): void => {
    if (host.state === 'dead') return
    watch.count('death')
    host.kill()
    restartLater(place)
  }
  const restartLater = (place: number): void => {
    const process = processes[place]
    scheduler.after(fates.between(100, restartMsMax), () => {
      if (processes[place] !== process || faults.stopped) return
      if (process?.isOver === true) start(place)
      else restartLater(place)
    })
  }

  const recurring = (perMinute: number, what: (place: number, process: Process) => void): void => {
    if (perMinute === 0) return
    scheduler.after(fates.between(0.3, 1.7) * (60_000 / perMinute), () => {
      if (faults.stopped) return
      // Workers are struck more often than the place that only takes commands.
      const place = fates.hits(0.85) ? fates.whole(0, workplaces - 1) : workplaces
      const process = processes[place]
      if (process !== undefined && !process.isOver) what(place, process)
      recurring(perMinute, what)
    })
  }

  return {
    someEngine() {
      const alive = processes.filter((process) => !process.isOver)
      return fates.one(alive.length > 0 ? alive : processes).workplace.engine
    },
    storm() {
      recurring(weather.freezes, (_, { host }) => freeze(host))
      recurring(weather.deaths, (place, { host }) => kill(place, host))
      recurring(weather.drains, (place, process) => {
        watch.count('drain')
        process.drain()
        restartLater(place)
      })
      if (oneMachine) return
      recurring(weather.clockJumps, (_, { host }) => host.jump(fates.between(-skewMsMax, skewMsMax)))
    },
    thawAll: () => hosts.forEach((host) => host.thaw()),
    refill() {
      for (const [place, process] of processes.entries()) if (process.isOver) start(place)
    },
    drainAll() {
      for (const process of processes) process.drain()
    },
    isAtWork: () => processes.slice(0, workplaces).some((process) => !process.isOver),
    isDead,
    callTimeoutMs: timing.callTimeoutMs,
    newcomer: () => start(workplaces),
  }
}
