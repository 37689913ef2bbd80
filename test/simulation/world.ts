import { memoryArtifactStore } from '../../adapters/memory/memoryArtifactStore.ts'
import { memoryEventStore } from '../../adapters/memory/memoryEventStore.ts'
import { memoryViewStore } from '../../adapters/memory/memoryViewStore.ts'
import { sha256 } from '../../adapters/system/sha256.ts'
import { type Chance, chanceFrom } from './chance.ts'
import { cluster as newCluster } from './cluster.ts'
import { everyJobHasEnded, judgeTheEnd } from './ending.ts'
import { faultsOf, weatherOf } from './faults.ts'
import type { SharedStores } from './gatedStores.ts'
import { definitions as definitionsOf } from './jobs.ts'
import { people as peopleOf } from './people.ts'
import { planOf } from './plans.ts'
import { promptness } from './promptness.ts'
import { simulatedProvider, temperOf } from './provider.ts'
import { scheduler as newScheduler } from './scheduler.ts'
import { traceTo } from './trace.ts'
import { mannerOf } from './truth.ts'
import { watch as newWatch } from './watch.ts'

export type Report = {
  readonly seed: number
  /** The first rules broken, or none. */
  readonly violations: readonly string[]
  /** Two runs of one seed have the same. */
  readonly hash: string
  readonly steps: number
  readonly virtualMs: number
  /** How often each kind of thing happened. */
  readonly counts: ReadonlyMap<string, number>
}

const stormMsMin = 6_000
const stormMsMax = 30_000
/** Everything has ended this long after the storm, and everybody has left this long after being asked to. */
const endMsMax = 600_000
const drainMsMax = 60_000
const stepsMax = 100_000

/** Lives through one seed: a storm of faults, then calm weather in which everything has to come to its end. */
export const simulate = async (seed: number, write: ((line: string) => void) | null = null): Promise<Report> => {
  const world = newWorld(chanceFrom(seed), write)
  const { scheduler, trace, watch, faults, provider, cluster, people, plans } = world

  const isSpinning = (): boolean => scheduler.steps() >= stepsMax
  const isBroken = (): boolean => watch.violations.length > 0
  const run = async (until: () => boolean, ms: number): Promise<boolean> => {
    const reached = await scheduler.run(() => isBroken() || isSpinning() || until(), scheduler.now() + ms)
    if (isSpinning()) watch.broken('nobodySpins', `${stepsMax} steps are not enough`)
    return reached && !isBroken()
  }

  const storm = async (): Promise<void> => {
    people.begin()
    cluster.storm()
    await run(() => false, world.stormMs)
  }

  const calm = async (): Promise<void> => {
    trace.note('the storm is over')
    faults.stop()
    provider.calm()
    watch.calm()
    cluster.thawAll()
    let isOver = false
    const stewardship = (): void => {
      if (isOver) return
      cluster.refill()
      people.steward()
      scheduler.after(1_000, stewardship)
    }
    stewardship()
    await run(() => watch.records.size >= plans.length && people.isDone(), endMsMax)
    isOver = true
    for (const record of watch.records.values()) watch.note('everyJobHasEnded', record, everyJobHasEnded(record))
  }

  const end = async (): Promise<void> => {
    cluster.drainAll()
    await run(() => !cluster.isAtWork(), drainMsMax)
    if (cluster.isAtWork()) watch.broken('everybodyLeaves', `somebody is at work ${drainMsMax} ms after being asked to stop`)
    let isJudged = false
    judgeTheEnd({ ...world, newcomer: cluster.newcomer() }).then(
      () => {
        isJudged = true
      },
      (error: Error) => watch.broken('theEndCanBeJudged', error.stack ?? error.message),
    )
    if (!(await run(() => isJudged, drainMsMax)) && !isBroken()) watch.broken('theEndCanBeJudged', 'it took too long')
  }

  for (const phase of [storm, calm, end]) if (!isBroken()) await phase()
  return {
    seed,
    violations: watch.violations,
    hash: trace.hash(),
    steps: scheduler.steps(),
    virtualMs: scheduler.now(),
    counts: watch.counts,
  }
}

const newWorld = (chance: Chance, write: ((line: string) => void) | null) => {
  const scheduler = newScheduler()
  const trace = traceTo(scheduler.now, write)
  const weather = weatherOf(chance.fork())
  const oneMachine = chance.hits(0.3)
  const faults = faultsOf(chance.fork(), weather, scheduler, oneMachine)
  const manner = mannerOf(chance.fork())
  const temper = temperOf(chance.fork())
  const lag = chance.fork()
  const stormMs = lag.between(stormMsMin, stormMsMax)

  const listeners = new Set<() => void>()
  let appends = 0
  let views = memoryViewStore()
  const watch = newWatch(memoryEventStore(), {
    replays: temper.replays,
    now: scheduler.now,
    isDead: (workerId) => cluster.isDead(workerId),
    onAppend(event) {
      const { position, stream, revision, type, hash, data } = event
      trace.note(`log ${position} ${stream} ${revision} ${type} ${hash.slice(0, 8)} ${data}`)
      appends += 1
      for (const listener of [...listeners]) scheduler.after(lag.between(0.1, 3), listener)
      people.heard(event)
      judgePromptness(event)
    },
  })
  const judgePromptness = promptness({
    scheduler,
    watch: () => watch,
    callTimeoutMs: () => cluster.callTimeoutMs,
    calmSinceMs: () => watch.calmSinceMs(),
  })
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
  const definitions = definitionsOf(faults)
  const cluster = newCluster({
    chance: chance.fork(),
    scheduler,
    weather,
    oneMachine,
    shared,
    faults,
    provider,
    definitions,
    trace,
    watch,
  })

  const dropViews = (): void => {
    if (weather.viewsDropped === 0) return
    scheduler.after(lag.between(0.3, 1.7) * (60_000 / weather.viewsDropped), () => {
      if (faults.stopped) return
      watch.count('views deleted')
      trace.note('the views are deleted')
      views = memoryViewStore()
      dropViews()
    })
  }
  dropViews()

  const planned = chance.fork()
  const plans = Array.from({ length: planned.whole(1, 5) }, (_, index) => planOf(planned, index))
  const people = peopleOf({
    chance: chance.fork(),
    scheduler,
    trace,
    watch,
    plans,
    stormMs,
    isStormy: () => !faults.stopped,
    someEngine: cluster.someEngine,
  })
  return { scheduler, trace, faults, watch, shared, manner, provider, definitions, cluster, plans, people, stormMs }
}
