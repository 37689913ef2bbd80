import { durationText } from '../durationText.ts'

const pad = (value: number): string => String(value).padStart(2, '0')

/** Time as it runs: `0:07`, `12:34`, `1:02:03`. */
export const clockText = (seconds: number): string => {
  const whole = Math.max(0, Math.floor(seconds))
  const hours = Math.floor(whole / 3_600)
  const minutes = Math.floor(whole / 60) % 60
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(whole % 60)}` : `${minutes}:${pad(whole % 60)}`
}

/** How long something took: `12 ms`, `3.4 s`, `37 s`, `1 h 20 min`. */
export const tookText = (ms: number): string => {
  if (ms < 1_000) return `${ms} ms`
  return ms < 9_950 ? `${(ms / 1_000).toFixed(1)} s` : durationText(ms / 1_000)
}

/** How long until then: null when it is over. */
export const untilText = (instant: string, nowMs: number): string | null => {
  const leftMs = Date.parse(instant) - nowMs
  return leftMs > 0 ? durationText(Math.max(1, leftMs / 1_000)) : null
}

/** `12.4/s`, `90/min`, `3.0/h`: of the units that fit, the one in which it is a number to read. */
export const rateText = (perSecond: number): string => {
  const [rate, unit] =
    perSecond >= 1 ? [perSecond, 's'] : perSecond >= 1 / 60 ? [perSecond * 60, 'min'] : [perSecond * 3_600, 'h']
  return `${rate < 10 ? rate.toFixed(1) : Math.round(rate)}/${unit}`
}
