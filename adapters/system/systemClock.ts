import { uptime } from 'node:os'
import { performance } from 'node:perf_hooks'
import type { Clock } from '../../domain/ports/clock.ts'

/** The two counters of a host, in milliseconds. Only `uptimeMs` goes on while the host is suspended. */
export type HostTime = { readonly runningMs: () => number; readonly uptimeMs: () => number }

const host: HostTime = { runningMs: () => performance.now(), uptimeMs: () => uptime() * 1000 }

// Asking for the uptime costs a read of /proc, so a suspension may go unnoticed for this long.
const suspensionCheckMs = 250
// The uptime comes in steps of 10 ms and the two counters drift: less than this is no suspension.
const suspensionMsMin = 1000
// A longer timer would fire at once.
const timerMsMax = 2 ** 31 - 1

export const systemClock = (time: HostTime = host): Clock => {
  const aheadAtStart = time.uptimeMs() - time.runningMs()
  let suspendedMs = 0
  let checkedAt = time.runningMs()

  const monotonic = (): number => {
    const running = time.runningMs()
    if (running - checkedAt >= suspensionCheckMs) {
      checkedAt = running
      const behind = time.uptimeMs() - running - aheadAtStart - suspendedMs
      if (behind >= suspensionMsMin) suspendedMs += behind
    }
    return running + suspendedMs
  }

  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    let left = Math.max(0, ms)
    do {
      const part = Math.min(left, timerMsMax)
      await timer(part, signal)
      left -= part
    } while (left > 0 && signal?.aborted !== true)
  }

  return { now: () => Date.now(), monotonic, sleep }
}

const timer = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) return resolve()
    const end = (): void => {
      clearTimeout(running)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const running = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
