import { memoryArtifactStore } from '../../adapters/memory/memoryArtifactStore.ts'
import { memoryEventStore } from '../../adapters/memory/memoryEventStore.ts'
import { memoryViewStore } from '../../adapters/memory/memoryViewStore.ts'
import { sha256 } from '../../adapters/system/sha256.ts'
import { jobIdOf } from '../../domain/ids.ts'
import { isTerminal } from '../../domain/job/job.ts'
import type { Presence } from '../../domain/ports/presence.ts'
import { prepareJob } from '../../server/submit.ts'
import { chanceFrom } from './chance.ts'
import { everyCallIsInTheBooks, everyJobHasEnded, noCallIsOpen, resultsAreRight } from './ending.ts'
import { faultsOf, weatherOf } from './faults.ts'
import type { SharedStores } from './gatedStores.ts'
import { host as newHost, type Host } from './host.ts'
import { definitions as definitionsOf } from './jobs.ts'
import { people as peopleOf } from './people.ts'
import { planOf } from './plans.ts'
import { type Process, startProcess } from './process.ts'
import { simulatedProvider, temperOf } from './provider.ts'
import { scheduler as newScheduler } from './scheduler.ts'
import { traceTo } from './trace.ts'
import { mannerOf } from './truth.ts'
import { watch as newWatch, type Watch } from './watch.ts'

export type Report = {
  readonly seed: number
  /** The first rules broken, or none. */
  readonly violations: readonly string[]
  /** Two runs of one seed have the same. */
  readonly hash: string
  readonly steps: number
  readonly virtualMs: number
  readonly counts: ReadonlyMap<string, number>
}

const start = Date.UTC(2026, 0, 1)
const skewMsMax = 600_000
const stormMsMin = 6_000
const stormMsMax = 25_000
const endMsMax = 600_000
const drainMsMax = 60_000
const stepsMax = 100_000

/** Lives through one seed: a storm of faults, then calm weather in which everything has to come to its end. */
export const simulate = async (seed: number, write: ((line: string) => void) | null = null): Promise<Report> => {
  const chance = chanceFrom(seed)
  const scheduler = newScheduler()
  const trace = traceTo(scheduler.now, write)
  const weather = weatherOf(chance.fork())
  const oneMachine = chance.hits(0.3)
  const faults = faultsOf(chance.fork(), weather, scheduler, oneMachine)
  const manner = mannerOf(chance.fork())
  const temper = temperOf(chance.fork())

  const listeners = new Set<() => void>()
  let appends = 0
  let views = memoryViewStore()
  const watch: Watch = newWatch(memoryEventStore(), { replays: temper.replays }, (event) => {
    trace.note(`log ${event.position} ${event.stream} ${event.revision} ${event.type} ${event.hash.slice(0, 8)} ${event.data}`)
    appends += 1
    for (const listener of [...listeners]) scheduler.after(lag.between(0.1, 3), listener)
  })
  const lag = chance.fork()
  const shared: SharedStores = {
    events: watch.events,
    views: () => views,
    artifacts: memoryArtifactStore(sha256),
    appends: () => appends,
    onAppend(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  const provider = simulatedProvider({
    chance: chance.fork(),
    scheduler,
    trace,
    manner,
    temper,
    watched: { sent: (send) => watch.sent(send, send.host), billed: (send) => watch.billed(send) },
  })

  const hosts = new Map<string, Host>()
  const presence: Presence | null = oneMachine
    ? {
        announce: async () => async () => {},
        isGone: async (workerId) => hosts.get(workerId)?.state === 'dead',
      }
    : null
  const definitions = definitionsOf(faults)
  const hostChance = chance.fork()
  const working = {
    leaseMs: hostChance.whole(1_500, 8_000),
    drainMs: hostChance.whole(500, 6_000),
    callTimeoutMs: hostChance.whole(800, 8_000),
  }
  const places = hostChance.whole(1, 3)
  const processes: Process[] = []
  let started = 0

  const startAt = (place: number): void => {
    started += 1
    const skew = oneMachine ? 0 : hostChance.between(-skewMsMax, skewMsMax)
    const name = `p${place}-${started}`
    const host = newHost({
      name,
      chance: hostChance.fork(),
      scheduler,
      faults,
      trace,
      wallStart: start + skew,
      oneMachine,
    })
    hosts.set(name, host)
    trace.note(`${name} starts`)
    // The last place only takes commands.
    const works = place < places ? { ...working, slots: hostChance.whole(1, 3) } : null
    processes[place] = startProcess(host, { shared, faults, provider, definitions, trace, watch, presence, working: works })
  }
  for (let place = 0; place <= places; place += 1) startAt(place)

  const aliveProcesses = (): readonly Process[] => processes.filter((each) => !each.isOver)
  const fateOf = chance.fork()
  const recurring = (perMinute: number, what: () => void): void => {
    if (perMinute === 0) return
    scheduler.after(fateOf.between(0.3, 1.7) * (60_000 / perMinute), () => {
      if (faults.stopped) return
      what()
      recurring(perMinute, what)
    })
  }
  const somePlace = (): number => fateOf.whole(0, places)
  const restartLater = (place: number): void => {
    const process = processes[place]
    scheduler.after(fateOf.between(100, 12_000), () => {
      if (processes[place] === process && process?.isOver === true) startAt(place)
      else if (processes[place] === process) restartLater(place)
    })
  }
  recurring(weather.freezes, () => {
    const process = processes[somePlace()]
    if (process === undefined || process.isOver) return
    watch.count('freeze')
    process.host.freeze()
    scheduler.after(fateOf.between(10, working.leaseMs * 3), () => process.host.thaw())
  })
  recurring(weather.deaths, () => {
    const place = somePlace()
    if (processes[place]?.isOver === true) return
    watch.count('death')
    processes[place]?.host.kill()
    restartLater(place)
  })
  recurring(weather.drains, () => {
    const place = fateOf.whole(0, places - 1)
    watch.count('drain')
    processes[place]?.drain()
    restartLater(place)
  })
  recurring(weather.viewsDropped, () => {
    watch.count('views deleted')
    trace.note('views are deleted')
    views = memoryViewStore()
  })

  const planChance = chance.fork()
  const plans = Array.from({ length: planChance.whole(1, 4) }, (_, index) => planOf(planChance, index))
  const stormMs = fateOf.between(stormMsMin, stormMsMax)
  const people = peopleOf({
    chance: chance.fork(),
    scheduler,
    trace,
    watch,
    plans,
    stormMs,
    someEngine: () => fateOf.one(aliveProcesses().length > 0 ? aliveProcesses() : processes).workplace.engine,
  })
  people.begin()
  recurring(fateOf.between(5, 90), () => people.meddle())

  const isSpinning = (): boolean => scheduler.steps() >= stepsMax
  const isBroken = (): boolean => watch.violations.length > 0
  const report = (): Report => ({
    seed,
    violations: watch.violations,
    hash: trace.hash(),
    steps: scheduler.steps(),
    virtualMs: scheduler.now(),
    counts: watch.counts,
  })
  const run = async (until: () => boolean, ms: number): Promise<boolean> => {
    const reached = await scheduler.run(() => isBroken() || isSpinning() || until(), scheduler.now() + ms)
    if (isSpinning()) watch.broken('nobodySpins', `${stepsMax} steps are not enough`)
    return reached && !isBroken()
  }

  // The storm.
  await run(() => false, stormMs)
  if (isBroken()) return report()

  // The calm.
  trace.note('the storm is over')
  faults.stop()
  provider.calm()
  for (const process of processes) process.host.thaw()
  for (const [place, process] of processes.entries()) if (process.isOver) startAt(place)
  let isEnding = false
  const stewardship = (): void => {
    if (isEnding) return
    for (const [place, process] of processes.entries()) if (process.isOver) startAt(place)
    people.steward()
    scheduler.after(1_000, stewardship)
  }
  scheduler.after(1_000, stewardship)
  const haveEnded = (): boolean =>
    watch.records.size >= plans.length &&
    [...watch.records.values()].every(({ job }) => {
      if (job === null || !isTerminal(job.state)) return false
      return job.state !== 'failed' || job.error?.kind === 'policy_block' || job.retryCount > 0
    })
  await run(haveEnded, endMsMax)
  for (const record of watch.records.values()) note(watch, 'everyJobEnds', record.jobId, everyJobHasEnded(record))
  if (isBroken()) return report()

  // The end: everybody stops in good order, and somebody new looks at what is there.
  isEnding = true
  for (const process of processes) process.drain()
  const isDrained = await run(() => processes.slice(0, places).every((each) => each.isOver), drainMsMax)
  if (!isDrained && !isBroken()) watch.broken('everybodyDrains', `somebody is at work after ${drainMsMax} ms`)
  if (isBroken()) return report()
  startAt(places)
  const { workplace } = processes[places] as Process
  let isChecked = false
  const check = async (): Promise<void> => {
    for (const { name, equal, differs } of await workplace.engine.verifyProjections([])) {
      if (!equal) watch.broken('viewsEqualAFreshFold', `view ${name}: ${JSON.stringify(differs)}`)
    }
    for (const record of watch.records.values()) {
      note(watch, 'noCallIsOpen', record.jobId, noCallIsOpen(record))
      note(watch, 'everyCallIsInTheBooks', record.jobId, everyCallIsInTheBooks(record))
    }
    for (const plan of plans) {
      const prepared = prepareJob(
        {
          definitions: new Map(definitions.map((each) => [each.type, each])),
          artifacts: shared.artifacts,
          sha256,
          now: start,
          provider: () => provider.at(newProcessHost()),
          ownPrices: () => [],
        },
        plan.submission,
      )
      const { projectId, idempotencyKey } = prepared.spec
      const record = watch.records.get(jobIdOf(projectId, idempotencyKey, sha256))
      if (record === undefined) {
        watch.broken('whatIsSubmittedIsThere', `job ${prepared.jobId} is not there`)
        continue
      }
      watch.count(`ended ${record.job?.state}`)
      const deps = { engine: workplace.engine, artifacts: shared.artifacts, manner, provider: provider.at(newProcessHost()) }
      note(watch, 'resultsAreRight', record.jobId, await resultsAreRight(plan, record, deps))
    }
    isChecked = true
  }
  const newProcessHost = (): Host => (processes[places] as Process).host
  check().catch((error: unknown) =>
    watch.broken('theEndCanBeChecked', error instanceof Error ? (error.stack ?? error.message) : String(error)),
  )
  await run(() => isChecked, drainMsMax)
  if (!isChecked && !isBroken()) watch.broken('theEndCanBeChecked', 'it took too long')
  return report()
}

const note = (watch: Watch, invariant: string, jobId: string, broken: string | null): void => {
  if (broken !== null) watch.broken(invariant, `job ${jobId}: ${broken}`)
}
