/**
 * Runs `work` over the items, so many at a time. After a failure no further item is begun; those that were are
 * awaited, and then the first failure is raised.
 */
export const each = async <Item>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item, index: number) => Promise<void>,
): Promise<void> => {
  const failures: unknown[] = []
  const left = items.entries()
  const lane = async (): Promise<void> => {
    for (const [index, item] of left) {
      try {
        await work(item, index)
      } catch (error) {
        failures.push(error)
      }
      if (failures.length > 0) return
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, lane))
  if (failures.length > 0) throw failures[0]
}
