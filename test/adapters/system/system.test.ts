import { describe, expect, test, vi } from 'vitest'
import { sha256 } from '../../../adapters/system/sha256.ts'
import { systemClock } from '../../../adapters/system/systemClock.ts'
import { systemRandom } from '../../../adapters/system/systemRandom.ts'

describe('the system clock', () => {
  test('tells the wall clock, and spans that never go back', () => {
    const clock = systemClock()
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1000)
    let before = clock.monotonic()
    for (let look = 0; look < 1000; look += 1) {
      const now = clock.monotonic()
      expect(now).toBeGreaterThanOrEqual(before)
      before = now
    }
  })

  test('counts the time for which the host was suspended', () => {
    const host = { runningMs: 1000, uptimeMs: 50_000 }
    const clock = systemClock({ runningMs: () => host.runningMs, uptimeMs: () => host.uptimeMs })
    const before = clock.monotonic()
    host.runningMs += 300
    host.uptimeMs += 3_600_300
    expect(clock.monotonic() - before).toBe(3_600_300)
    host.runningMs += 300
    host.uptimeMs += 300
    expect(clock.monotonic() - before).toBe(3_600_600)
  })

  test('does not take the coarse steps of the uptime for a suspension, and does not go back with them', () => {
    const host = { runningMs: 0, uptimeMs: 0 }
    const coarse = (): number => Math.floor(host.uptimeMs / 10) * 10 - 5
    const clock = systemClock({ runningMs: () => host.runningMs, uptimeMs: coarse })
    for (let step = 1; step <= 100; step += 1) {
      host.runningMs += 333
      host.uptimeMs += 333
      expect(clock.monotonic()).toBe(host.runningMs)
    }
  })

  test('sleeps for the time given, counted by fake timers', async () => {
    vi.useFakeTimers()
    try {
      let awake = false
      const sleeping = systemClock().sleep(5000).then(() => {
        awake = true
      })
      await vi.advanceTimersByTimeAsync(4999)
      expect(awake).toBe(false)
      await vi.advanceTimersByTimeAsync(1)
      await sleeping
      expect(awake).toBe(true)
    } finally {
      vi.useRealTimers()
    }
  })

  test('sleeps longer than a timer of the host can, instead of waking at once', async () => {
    vi.useFakeTimers()
    try {
      let awake = false
      const sleeping = systemClock().sleep(2 ** 31 + 5000).then(() => {
        awake = true
      })
      await vi.advanceTimersByTimeAsync(2 ** 31)
      expect(awake).toBe(false)
      await vi.advanceTimersByTimeAsync(5000)
      await sleeping
    } finally {
      vi.useRealTimers()
    }
  })

  test('wakes at once, without an error and without a timer left, when the signal aborts', async () => {
    vi.useFakeTimers()
    try {
      const end = new AbortController()
      const sleeping = systemClock().sleep(60_000, end.signal)
      expect(vi.getTimerCount()).toBe(1)
      end.abort()
      await sleeping
      expect(vi.getTimerCount()).toBe(0)
      await systemClock().sleep(60_000, end.signal)
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  test('leaves no listener on a signal after a sleep that ended by itself', async () => {
    const end = new AbortController()
    const removed = vi.spyOn(end.signal, 'removeEventListener')
    const added = vi.spyOn(end.signal, 'addEventListener')
    await systemClock().sleep(0, end.signal)
    expect(removed).toHaveBeenCalledTimes(added.mock.calls.length)
    expect(added).toHaveBeenCalledTimes(1)
  })

  test.each([0, -5, Number.NaN])('sleeps for %d milliseconds without waiting for ever', async (ms) => {
    await expect(systemClock().sleep(ms)).resolves.toBeUndefined()
  })
})

test('luck lies in [0, 1), and ids are not drawn twice', () => {
  const random = systemRandom()
  const draws = Array.from({ length: 2000 }, () => random.luck())
  expect(Math.min(...draws)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...draws)).toBeLessThan(1)
  expect(new Set(draws).size).toBeGreaterThan(1990)
  expect(Math.abs(draws.reduce((sum, draw) => sum + draw, 0) / draws.length - 0.5)).toBeLessThan(0.1)
  expect(new Set(Array.from({ length: 1000 }, () => random.id())).size).toBe(1000)
})

test('SHA-256 is lower-case hex, over UTF-8 where text is given', () => {
  expect(sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  expect(sha256('ä')).toBe(sha256(Uint8Array.from([0xc3, 0xa4])))
})
