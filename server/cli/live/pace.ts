/** How quickly something gets on, by what was done when. */
export type Pace = {
  /** By the stamps of one writer, oldest first, no two nearer than `apartMs` but the last. */
  readonly samples: readonly { readonly atMs: number; readonly done: number }[]
  /** When the last one was heard of, by the reader's own clock. */
  readonly heardAtMs: number
}

export const noPace: Pace = { samples: [], heardAtMs: 0 }

const apartMs = 500
const windowMs = 60_000
/** Slow work is told by so many samples, however long they took. */
const samplesMin = 4
const spanMsMin = 1_000
const silenceMsMin = 10_000

type Sample = Pace['samples'][number]

export const paced = ({ samples }: Pace, sample: Sample, nowMs: number): Pace => {
  const last = samples.at(-1)
  const beforeLast = samples.at(-2)
  if (last !== undefined && (sample.done < last.done || sample.atMs < last.atMs)) return { samples: [sample], heardAtMs: nowMs }
  const isNear = last !== undefined && beforeLast !== undefined && last.atMs - beforeLast.atMs < apartMs
  const all = [...(isNear ? samples.slice(0, -1) : samples), sample]
  const firstKept = all.findIndex(({ atMs }, at) => sample.atMs - atMs <= windowMs || all.length - at <= samplesMin)
  return { samples: all.slice(firstKept), heardAtMs: nowMs }
}

/** Null while it cannot be told: at the start, and after a silence longer than all that is known. */
export const perSecond = ({ samples, heardAtMs }: Pace, nowMs: number): number | null => {
  const first = samples[0]
  const last = samples.at(-1)
  if (first === undefined || last === undefined || last.done === first.done) return null
  const knownMs = last.atMs - first.atMs
  const silentMs = Math.max(0, nowMs - heardAtMs)
  if (knownMs < spanMsMin || silentMs > Math.max(knownMs, silenceMsMin)) return null
  return ((last.done - first.done) / (knownMs + silentMs)) * 1_000
}
