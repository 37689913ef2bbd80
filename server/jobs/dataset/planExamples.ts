import { createHash } from 'node:crypto'
import { InvalidInputError } from '../../../domain/errors.ts'
import { type Family, families as allFamilies } from './families.ts'
import type { Chunk, PlannedChunk } from './stageResults.ts'

/** Examples planned where no target is given, at most: as many as a job may have by default. */
const untoldTargetMax = 2_500

/**
 * Which examples are made of which chunk: at most one of a family, the documents served in turn and their chunks
 * before any gets a second example, the families equal but for one. The same chunks and seed give the same plan.
 * Without a target it is one example a chunk. Raises `InvalidInputError` for a target that cannot be met.
 */
export const planExamples = (wanted: {
  readonly chunks: readonly Chunk[]
  readonly target: number | null
  readonly seed: number
  readonly families: readonly Family[]
}): readonly PlannedChunk[] => {
  const { chunks, seed } = wanted
  const families = allFamilies.filter((family) => wanted.families.includes(family))
  const target = wanted.target ?? Math.min(chunks.length, untoldTargetMax)
  const targetMax = chunks.length * families.length
  if (target > targetMax) {
    const most = `${chunks.length} chunks in ${families.length} families of example make ${targetMax} at most`
    const instead = 'lower the target, or give more documents, more families or smaller chunks (chunkTokens)'
    throw new InvalidInputError(`${target} examples cannot be planned: ${most}; ${instead}`, { rule: 'target', target, targetMax })
  }
  const turns = inTurn(chunks, seed)
  const planned = new Map<string, Set<Family>>()
  for (let nth = 0; nth < target; nth += 1) {
    const chunk = turns[nth % turns.length]
    const family = families[familyIndex(nth, turns.length, families.length)]
    if (chunk === undefined || family === undefined) break
    planned.set(chunk.id, (planned.get(chunk.id) ?? new Set()).add(family))
  }
  return chunks.flatMap((chunk) => {
    const own = planned.get(chunk.id)
    return own === undefined ? [] : [{ chunk, families: families.filter((family) => own.has(family)) }]
  })
}

/** Families in turn, moved on by one whenever a round over the chunks would give a chunk what it has already. */
const familyIndex = (nth: number, chunks: number, families: number): number => {
  const rounds = families / greatestDivisor(chunks, families)
  return (nth + Math.floor(Math.floor(nth / chunks) / rounds)) % families
}

const greatestDivisor = (one: number, other: number): number => (other === 0 ? one : greatestDivisor(other, one % other))

/** The chunks shuffled, so that every document has its first turn before any has its second. */
const inTurn = (chunks: readonly Chunk[], seed: number): readonly Chunk[] => {
  const drawn = chunks
    .map((chunk) => ({ chunk, lot: createHash('sha256').update(`${seed}:${chunk.id}`).digest('hex') }))
    .toSorted((left, right) => (left.lot < right.lot ? -1 : 1))
  const turnsOf = new Map<number, number>()
  const withTurn = drawn.map(({ chunk }) => {
    const turn = turnsOf.get(chunk.document) ?? 0
    turnsOf.set(chunk.document, turn + 1)
    return { chunk, turn }
  })
  return withTurn.toSorted((left, right) => left.turn - right.turn).map(({ chunk }) => chunk)
}
