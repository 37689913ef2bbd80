import { randomFrom } from '../contract/seededRandom.ts'

/** Seeded dice. */
export type Chance = {
  /** In [0, 1). */
  luck(): number
  /** True so often. */
  hits(probability: number): boolean
  /** A number in [least, most). */
  between(least: number, most: number): number
  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number
  one<T>(choices: readonly T[]): T
  shuffled<T>(items: readonly T[]): readonly T[]
  /** Dice of their own, so that one more throw here changes nothing there. */
  fork(): Chance
}

export const chanceFrom = (seed: number): Chance => {
  const { below } = randomFrom(seed)
  const luck = (): number => below(2 ** 32) / 2 ** 32
  const whole = (least: number, most: number): number => least + Math.floor(luck() * (most - least + 1))
  return {
    luck,
    hits: (probability) => luck() < probability,
    between: (least, most) => least + luck() * (most - least),
    whole,
    one: <T>(choices: readonly T[]) => choices[whole(0, choices.length - 1)] as T,
    shuffled: (items) =>
      items
        .map((item) => ({ item, at: luck() }))
        .toSorted((left, right) => left.at - right.at)
        .map(({ item }) => item),
    fork: () => chanceFrom(below(2 ** 31)),
  }
}
