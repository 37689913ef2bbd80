import type { Presence } from '../domain/ports/presence.ts'
import type { WorkOptions } from './workOptions.ts'
import { type Views, worker } from './worker/worker.ts'
import type { Workshop } from './worker/attempt.ts'

const slotsDefault = 4
const leaseMsDefault = 60_000
export const drainMsDefault = 30_000

export type Working = Omit<Workshop, 'workerId' | 'drainMs'> & {
  readonly views: Views
  readonly presence: Presence | null
  readonly types: readonly string[]
}

/** Works jobs in this process, with the defaults of DESIGN.md section 9. See `Workplace.work`. */
export const work = (deps: Working, options: WorkOptions, signal: AbortSignal): Promise<void> => {
  const { views, presence, types, ...shop } = deps
  const workerId = options.workerId ?? `w-${shop.random.id()}`
  return worker(
    { ...shop, workerId, drainMs: options.drainMs ?? drainMsDefault },
    views,
    presence,
    {
      slots: options.slots ?? slotsDefault,
      leaseMs: options.leaseMs ?? leaseMsDefault,
      types,
      once: options.once ?? false,
      only: options.only ?? null,
    },
    signal,
  )
}
