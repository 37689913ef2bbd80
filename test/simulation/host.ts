import { StoreUnavailable } from '../../domain/errors.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { Random } from '../../domain/ports/random.ts'
import type { Chance } from './chance.ts'
import type { Faults, StoreName } from './faults.ts'
import type { Scheduler } from './scheduler.ts'
import type { Trace } from './trace.ts'

/** A request to the provider has left, or a store has got something to write. */
export type Moment = 'send' | 'write'

/**
 * A simulated process: everything that comes in from outside (answers, timers) passes its gate. While it is frozen
 * nothing comes in, so nothing runs; once it is dead nothing ever does again.
 */
export type Host = {
  readonly name: string
  readonly clock: Clock
  readonly random: Random
  readonly state: 'alive' | 'frozen' | 'dead'
  /** Sends a request to a store, and resolves or rejects by its fate. */
  ask<T>(store: StoreName, kind: 'read' | 'write', what: string, carryOut: () => Promise<T>): Promise<T>
  /** Lets something in: now, when the process thaws, or never. */
  deliver(run: () => void): void
  /** Something has just left the process or been carried out for it: a good moment for a disaster. */
  moment(what: Moment): void
  /** Sets the wall clock. */
  jump(ms: number): void
  freeze(): void
  thaw(): void
  kill(): void
  /** Called when the process dies. */
  onDeath(cleanUp: () => void): () => void
}

export type HostDeps = {
  readonly name: string
  readonly chance: Chance
  readonly scheduler: Scheduler
  readonly faults: Faults
  readonly trace: Trace
  /** Wall-clock milliseconds at the beginning of the world, as this process believes. */
  readonly wallStart: number
  /** Requests of a dead process reach the store no more. */
  readonly oneMachine: boolean
  onMoment(what: Moment): void
}

type Request = { isHeld: boolean; isDropped: boolean }

const monotonicStartMax = 1e9

export const host = (deps: HostDeps): Host => {
  const { name, chance, scheduler, faults, trace, oneMachine } = deps
  const monotonicStart = chance.between(0, monotonicStartMax)
  const outgoing = new Set<Request>()
  const cleanUps = new Set<() => void>()
  let waiting: (() => void)[] = []
  let state: Host['state'] = 'alive'
  let wallStart = deps.wallStart
  let ids = 0

  const deliver = (run: () => void): void => {
    if (state === 'alive') run()
    else if (state === 'frozen') waiting.push(run)
  }

  const ask: Host['ask'] = (store, kind, what, carryOut) =>
    new Promise((resolve, reject) => {
      const fate = faults.fate(store, kind)
      const request: Request = { isHeld: false, isDropped: false }
      const reply = (run: () => void): void => {
        if (fate.replyMs === 0) deliver(run)
        else scheduler.after(fate.replyMs, () => deliver(run))
      }
      const fail = (): void => reply(() => reject(new StoreUnavailable(`the ${store} store is away (simulated)`)))
      const arrive = (): void => {
        outgoing.delete(request)
        if (request.isDropped) return
        // It had not left the process when that was frozen.
        if (request.isHeld && state === 'frozen') return void waiting.push(arrive)
        trace.note(`${name} ${what} ${fate.kind}`)
        if (kind === 'write') deps.onMoment('write')
        if (fate.kind === 'carriedOut') {
          carryOut().then(
            (answer) => reply(() => resolve(answer)),
            (error: Error) => reply(() => reject(error)),
          )
          return
        }
        if (fate.kind === 'replyLost') return void carryOut().then(fail, fail)
        if (fate.kind === 'late') scheduler.after(fate.replyMs + fate.lateMs, () => void carryOut().catch(() => {}))
        fail()
      }
      outgoing.add(request)
      scheduler.after(fate.requestMs, arrive)
    })

  const sleep: Clock['sleep'] = (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve()
      const end = (): void => {
        timer.cancel()
        signal?.removeEventListener('abort', end)
        resolve()
      }
      // No timer of a host is shorter than a millisecond.
      const timer = scheduler.after(Math.max(1, ms), () => deliver(end))
      signal?.addEventListener('abort', end)
    })

  return {
    name,
    clock: {
      now: () => Math.floor(wallStart + scheduler.now()),
      monotonic: () => monotonicStart + scheduler.now(),
      sleep,
    },
    random: {
      luck: chance.luck,
      id: () => `${name}-${(ids += 1)}`,
    },
    get state() {
      return state
    },
    ask,
    deliver,
    moment: deps.onMoment,
    jump(ms) {
      wallStart += ms
    },
    freeze() {
      if (state !== 'alive') return
      trace.note(`${name} freezes`)
      state = 'frozen'
      for (const request of outgoing) request.isHeld = chance.hits(0.5)
    },
    thaw() {
      if (state !== 'frozen') return
      trace.note(`${name} thaws`)
      state = 'alive'
      for (const request of outgoing) request.isHeld = false
      const thawed = chance.shuffled(waiting)
      waiting = []
      for (const run of thawed) scheduler.after(chance.between(0, 2), () => deliver(run))
    },
    kill() {
      if (state === 'dead') return
      trace.note(`${name} dies`)
      state = 'dead'
      waiting = []
      for (const request of outgoing) request.isDropped = request.isHeld || oneMachine || chance.hits(0.5)
      for (const cleanUp of [...cleanUps]) cleanUp()
    },
    onDeath(cleanUp) {
      cleanUps.add(cleanUp)
      return () => void cleanUps.delete(cleanUp)
    },
  }
}
