import type { Amounts } from '../../domain/job/events.ts'
import type { FoldedEvent } from '../../domain/job/evolve.ts'

/** Money in integers of 1e-9 US dollars, read without the code under test. */
export type Sums = Readonly<Record<'nanoUsd' | 'calls' | 'inputTokens' | 'outputTokens' | 'examples', bigint>>

const nothing: Sums = { nanoUsd: 0n, calls: 0n, inputTokens: 0n, outputTokens: 0n, examples: 0n }

const nanoUsd = (dollars: string): bigint => {
  const [whole = '', fraction = ''] = dollars.split('.')
  return BigInt(whole + fraction.padEnd(9, '0'))
}

export const sumsOf = (amounts: Amounts): Sums => ({
  nanoUsd: nanoUsd(amounts.costUsd),
  calls: BigInt(amounts.calls),
  inputTokens: BigInt(amounts.inputTokens),
  outputTokens: BigInt(amounts.outputTokens),
  examples: BigInt(amounts.examples),
})

const names = ['nanoUsd', 'calls', 'inputTokens', 'outputTokens', 'examples'] as const
const each = (of: (name: (typeof names)[number]) => bigint): Sums =>
  Object.fromEntries(names.map((name) => [name, of(name)])) as Sums
const add = (left: Sums, right: Sums): Sums => each((name) => left[name] + right[name])
const above = (left: Sums, right: Sums): Sums =>
  each((name) => (left[name] > right[name] ? left[name] - right[name] : 0n))

/** Adds up the lines of a job's ledger, one event at a time. */
export const independentLedger = () => {
  const reserved = new Map<number, Sums>()
  const held = new Map<number, Sums>()
  let spent = nothing
  let excess = nothing

  const settle = (call: number, bill: Sums): void => {
    excess = add(excess, above(bill, reserved.get(call) ?? held.get(call) ?? nothing))
    spent = add(spent, bill)
    reserved.delete(call)
    held.delete(call)
  }
  const hold = (call: number): void => {
    held.set(call, reserved.get(call) ?? nothing)
    reserved.delete(call)
  }

  const enter = ({ type, data }: FoldedEvent): void => {
    if (type === 'ProviderCallReserved') {
      if (data.takesOver !== undefined) held.delete(data.takesOver)
      reserved.set(data.call, sumsOf(data.worstCase))
    } else if (type === 'ProviderCallSettled') {
      const worst = reserved.get(data.call) ?? held.get(data.call) ?? nothing
      const used = data.usage
      settle(data.call, {
        nanoUsd: nanoUsd(data.costUsd),
        calls: 1n,
        inputTokens:
          used === null
            ? worst.inputTokens
            : BigInt(used.inputTokens) + BigInt(used.cachedInputTokens) + BigInt(used.cacheWriteTokens),
        outputTokens: used === null ? worst.outputTokens : BigInt(used.outputTokens),
        examples: 0n,
      })
    } else if (type === 'ProviderCallReconciled') {
      settle(data.call, {
        nanoUsd: nanoUsd(data.costUsd),
        calls: data.billed ? 1n : 0n,
        inputTokens: BigInt(data.inputTokens),
        outputTokens: BigInt(data.outputTokens),
        examples: 0n,
      })
    } else if (type === 'ProviderCallOrphaned') hold(data.call)
    else if (type === 'ProviderCallFailed') {
      if (data.billed === 'unknown') hold(data.call)
      else reserved.delete(data.call)
    } else if (type === 'ExamplesAccepted') spent = { ...spent, examples: spent.examples + BigInt(data.count) }
  }

  const total = (calls: ReadonlyMap<number, Sums>): Sums => [...calls.values()].reduce(add, nothing)
  return {
    enter,
    sums: () => ({ spent, held: total(held), reserved: total(reserved) }),
    /** By how much bills have been above what was set aside for them: the only way over a limit. */
    excess: () => excess,
  }
}
