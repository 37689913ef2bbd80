/** Something that is to happen at its time. */
export type Timer = { cancel(): void }

/** Virtual time: nothing is waited for, the clock jumps to whatever is next. */
export type Scheduler = {
  /** Milliseconds since the beginning of the world. */
  now(): number
  after(ms: number, run: () => void): Timer
  /** Lets things happen, one at a time, until `until` says so (true), or nothing is left or `atMs` is past (false). */
  run(until: () => boolean, atMs: number): Promise<boolean>
  steps(): number
}

type Entry = { at: number; order: number; run: (() => void) | null }

export const scheduler = (): Scheduler => {
  const heap: Entry[] = []
  let now = 0
  let entered = 0
  let steps = 0

  return {
    now: () => now,
    steps: () => steps,
    after(ms, run) {
      const entry: Entry = { at: now + Math.max(0, ms), order: entered, run }
      entered += 1
      push(heap, entry)
      return {
        cancel: () => {
          entry.run = null
        },
      }
    },
    async run(until, atMs) {
      await settled()
      while (!until()) {
        const next = heap[0]
        if (next === undefined || next.at > atMs) return false
        pop(heap)
        if (next.run === null) continue
        now = next.at
        steps += 1
        next.run()
        await settled()
      }
      return true
    },
  }
}

/** Resolves when no promise has anything left to do: macrotasks come after all microtasks. */
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

const isBefore = (left: Entry, right: Entry): boolean =>
  left.at < right.at || (left.at === right.at && left.order < right.order)

const push = (heap: Entry[], entry: Entry): void => {
  let at = heap.length
  heap.push(entry)
  while (at > 0) {
    const above = (at - 1) >> 1
    const parent = heap[above] as Entry
    if (!isBefore(entry, parent)) break
    heap[at] = parent
    at = above
  }
  heap[at] = entry
}

const pop = (heap: Entry[]): void => {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let at = 0
  for (;;) {
    const left = at * 2 + 1
    if (left >= heap.length) break
    const right = left + 1
    const smaller = right < heap.length && isBefore(heap[right] as Entry, heap[left] as Entry) ? right : left
    const child = heap[smaller] as Entry
    if (!isBefore(child, last)) break
    heap[at] = child
    at = smaller
  }
  heap[at] = last
}
