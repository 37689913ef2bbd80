import { setImmediate } from 'node:timers/promises'
import type { Family } from './families.ts'
import { hashOf } from './hash.ts'

/** No family may have more than this many times its even share. */
export const shareMax = 1.5

type Member = { readonly id: string; readonly family: Family }

/**
 * The ids that are over their family's share of what is left, drawn by the seed. Without them no family has more than
 * `shareMax` times what each had if all had the same, rounded up; a single family has no surplus.
 */
export const familySurplus = async (members: readonly Member[], seed: number): Promise<ReadonlySet<string>> => {
  const byFamily = new Map<Family, string[]>()
  for (const { id, family } of members) {
    const ids = byFamily.get(family)
    if (ids === undefined) byFamily.set(family, [id])
    else ids.push(id)
  }
  const most = mostOf([...byFamily.values()].map((ids) => ids.length))
  const surplus = new Set<string>()
  for (const ids of byFamily.values()) {
    if (ids.length > most) for (const id of await idsOver(most, ids, seed)) surplus.add(id)
  }
  return surplus
}

/** The most that one family may have, once all are cut to it: the share is of what is left, so each cut lowers it. */
const mostOf = (counts: readonly number[]): number => {
  let most = Math.max(0, ...counts)
  for (;;) {
    const kept = counts.reduce((sum, count) => sum + Math.min(count, most), 0)
    const allowed = Math.ceil((shareMax * kept) / counts.length)
    if (counts.length < 2 || most <= allowed) return most
    most = allowed
  }
}

const idsOver = async (most: number, ids: readonly string[], seed: number): Promise<readonly string[]> => {
  const ranks = new Float64Array(ids.length)
  for (const [nth, id] of ids.entries()) {
    ranks[nth] = Number.parseInt(hashOf(`${seed}:${id}`).slice(0, rankDigits), 16)
    await setImmediate()
  }
  const cut = ranks.toSorted()[most] ?? Infinity
  return ids.filter((_, nth) => (ranks[nth] ?? 0) >= cut)
}

/** Hex digits of a whole number that is exact. */
const rankDigits = 13
