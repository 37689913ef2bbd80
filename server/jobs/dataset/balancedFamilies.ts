import type { Family } from './families.ts'
import { hashOf } from './hash.ts'

/** No family may have more than this many times its even share. */
const shareMax = 1.5

/**
 * The examples that are over their family's share, drawn by the seed. The share is of what is left, so it is taken
 * again until no family is over it.
 */
export const familySurplus = (examples: readonly { readonly id: string; readonly family: Family }[], seed: number): ReadonlySet<string> => {
  const byFamily = new Map<Family, string[]>()
  for (const { id, family } of examples) {
    const ids = byFamily.get(family) ?? []
    ids.push(id)
    byFamily.set(family, ids)
  }
  if (byFamily.size < 2) return new Set()
  const counts = [...byFamily.values()].map((ids) => ids.length)
  const most = mostOf(counts)
  return new Set([...byFamily.values()].flatMap((ids) => ranked(ids, seed).slice(most)))
}

/** The most that one family may have, once all are cut to it. */
const mostOf = (counts: readonly number[]): number => {
  let most = Math.max(...counts)
  for (;;) {
    const kept = counts.reduce((sum, count) => sum + Math.min(count, most), 0)
    const allowed = Math.ceil((shareMax * kept) / counts.length)
    if (most <= allowed) return most
    most = allowed
  }
}

const ranked = (ids: readonly string[], seed: number): readonly string[] =>
  ids
    .map((id) => ({ id, rank: hashOf(`${seed}:${id}`) }))
    .toSorted((one, other) => (one.rank < other.rank ? -1 : 1))
    .map(({ id }) => id)
