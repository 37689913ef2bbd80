import { setImmediate } from 'node:timers/promises'

/** Of work on one item: some milliseconds together. */
const itemsAtOnce = 200

/** The same items; whatever else waits for its turn in this process gets it now and then in between. */
export async function* unhurried<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  let taken = 0
  for (const item of items) {
    yield item
    taken += 1
    if (taken % itemsAtOnce === 0) await setImmediate()
  }
}
