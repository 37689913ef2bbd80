import type { Chance } from './chance.ts'
import type { Scheduler } from './scheduler.ts'

export type StoreName = 'log' | 'views' | 'artifacts'

/**
 * What becomes of a request to a store. `lost`: it never arrives. `replyLost`: it is carried out and nobody hears of
 * it. `late`: its sender is told that it failed, and then it is carried out all the same.
 */
export type Fate = {
  readonly kind: 'carriedOut' | 'lost' | 'replyLost' | 'late'
  readonly requestMs: number
  /** 0: together with the request. */
  readonly replyMs: number
  readonly lateMs: number
}

/** How bad the world of one seed is. Whole kinds of faults are absent from some, so that others go further. */
export type Weather = ReturnType<typeof weatherOf>

export const weatherOf = (chance: Chance) => {
  const sometimes = (most: number): number => (chance.hits(0.6) ? chance.between(0, most) : 0)
  return {
    lost: sometimes(0.12),
    replyLost: sometimes(0.12),
    late: sometimes(0.06),
    readFails: sometimes(0.03),
    slow: sometimes(0.08),
    slowMs: chance.between(20, 4_000),
    /** Spells in which a store is away, a minute. */
    spells: sometimes(15),
    spellMs: chance.between(200, 9_000),
    freezes: sometimes(40),
    deaths: sometimes(25),
    drains: sometimes(10),
    /** At how many of the moments at which something has just been sent or carried out. */
    strikesAtWrites: sometimes(0.1),
    strikesAtSends: chance.hits(0.4) ? chance.between(0, 0.4) : 0,
    clockJumps: sometimes(10),
    viewsDropped: sometimes(8),
    subscriptionSilent: sometimes(0.05),
    subscriptionRaises: sometimes(0.03),
    stageFails: sometimes(0.4),
    stageBreaks: chance.hits(0.15) ? 0.15 : 0,
  }
}

export type Faults = {
  fate(store: StoreName, kind: 'read' | 'write'): Fate
  hits(kind: 'subscriptionSilent' | 'subscriptionRaises' | 'stageFails' | 'stageBreaks' | 'strikesAtWrites' | 'strikesAtSends'): boolean
  /** From here on nothing goes wrong any more. */
  stop(): void
  readonly stopped: boolean
}

const minuteMs = 60_000

export const faultsOf = (chance: Chance, weather: Weather, scheduler: Scheduler, oneMachine: boolean): Faults => {
  const awayUntil: Record<StoreName, number> = { log: 0, views: 0, artifacts: 0 }
  let stopped = false

  const storms = chance.fork()
  const schedule = (store: StoreName): void => {
    if (weather.spells === 0) return
    scheduler.after(storms.between(0.3, 1.7) * (minuteMs / weather.spells), () => {
      if (stopped) return
      awayUntil[store] = scheduler.now() + storms.between(0.1, 1) * weather.spellMs
      schedule(store)
    })
  }
  const stores: readonly StoreName[] = ['log', 'views', 'artifacts']
  stores.forEach(schedule)

  const kindOf = (store: StoreName, kind: 'read' | 'write'): Fate['kind'] => {
    if (stopped) return 'carriedOut'
    if (scheduler.now() < awayUntil[store]) return 'lost'
    if (kind === 'read') return chance.hits(weather.readFails) ? 'lost' : 'carriedOut'
    const luck = chance.luck()
    if (luck < weather.lost) return 'lost'
    if (luck < weather.lost + weather.replyLost) return 'replyLost'
    if (luck < weather.lost + weather.replyLost + weather.late) return oneMachine ? 'replyLost' : 'late'
    return 'carriedOut'
  }

  return {
    fate(store, kind) {
      const isSlow = !stopped && chance.hits(weather.slow)
      const slowMs = isSlow ? chance.between(0, weather.slowMs) : 0
      const isSlowThere = isSlow && chance.hits(0.5)
      return {
        kind: kindOf(store, kind),
        requestMs: chance.between(0.05, 1.5) + (isSlowThere ? slowMs : 0),
        replyMs: isSlow || kind === 'write' || chance.hits(0.1) ? chance.between(0.05, 1.5) + (isSlowThere ? 0 : slowMs) : 0,
        lateMs: chance.between(0, 3_000),
      }
    },
    hits: (kind) => !stopped && chance.hits(weather[kind]),
    stop() {
      stopped = true
    },
    get stopped() {
      return stopped
    },
  }
}
