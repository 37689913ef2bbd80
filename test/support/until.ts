import { setTimeout as sleep } from 'node:timers/promises'

type Nothing = null | undefined | false

/**
 * Looks again and again until there is something to see, and answers it. Raises, with what was waited for and what
 * `describe` tells, when there is nothing within `withinMs`.
 */
export const until = async <Seen>(
  what: string,
  look: () => Promise<Seen | Nothing> | Seen | Nothing,
  options: { withinMs?: number; everyMs?: number; describe?: () => string } = {},
): Promise<Seen> => {
  const { withinMs = 30_000, everyMs = 10, describe = () => '' } = options
  const since = performance.now()
  for (;;) {
    const seen = await look()
    if (seen !== null && seen !== undefined && seen !== false) return seen
    if (performance.now() - since > withinMs) {
      throw new Error(`waited ${withinMs} ms in vain for ${what}\n${describe()}`)
    }
    await sleep(everyMs)
  }
}
