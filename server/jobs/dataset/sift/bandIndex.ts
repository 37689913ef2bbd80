/** Of those that share a band, so many of the latest are found: more share it only where it is a common phrase. */
const sharingMax = 32

/** Finds the earlier texts that share a band with one. Texts are numbered in the order they are added. */
export const bandIndex = () => {
  const latest = new Map<number, number>()
  // Two lists of numbers, and not one of each band: a hundred thousand texts have a million bands.
  const texts: number[] = []
  const earlier: (number | undefined)[] = []
  let count = 0

  return {
    found: (bands: readonly number[]): ReadonlySet<number> => {
      const found = new Set<number>()
      for (const band of bands) {
        let place = latest.get(band)
        for (let left = sharingMax; place !== undefined && left > 0; left -= 1) {
          found.add(texts[place] ?? 0)
          place = earlier[place]
        }
      }
      return found
    },
    add: (bands: readonly number[]): void => {
      for (const band of bands) {
        earlier.push(latest.get(band))
        latest.set(band, texts.push(count) - 1)
      }
      count += 1
    },
  }
}
