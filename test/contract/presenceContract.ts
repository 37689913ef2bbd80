import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Presence } from '../../domain/ports/presence.ts'

/** A worker's process as another process sees it. */
export type AnnouncedElsewhere = {
  /** Ends the process without a chance to tidy up. */
  kill(): Promise<void>
}

export type OpenPresence = () => Promise<{
  readonly presence: Presence
  /** Starts another process that announces this worker, and resolves when it has. */
  readonly elsewhere: (workerId: string) => Promise<AnnouncedElsewhere>
  readonly close: () => Promise<void>
}>

/** What every way of telling that a worker is gone promises. */
export const presenceContract = (name: string, open: OpenPresence): void => {
  describe(`${name} as presence`, () => {
    let opened: Awaited<ReturnType<OpenPresence>>
    beforeEach(async () => {
      opened = await open()
    })
    afterEach(() => opened.close())

    test('does not call a worker gone while its process lives', async () => {
      const worker = await opened.elsewhere('worker-1')
      for (let look = 0; look < 20; look += 1) expect(await opened.presence.isGone('worker-1')).toBe(false)
      await worker.kill()
    })

    test('calls a worker gone at once when its process was killed, and again when asked again', async () => {
      const worker = await opened.elsewhere('worker-1')
      await worker.kill()
      expect(await opened.presence.isGone('worker-1')).toBe(true)
      expect(await opened.presence.isGone('worker-1')).toBe(true)
    })

    test('tells workers apart', async () => {
      const killed = await opened.elsewhere('host/1 a')
      const living = await opened.elsewhere('host/1 b')
      await killed.kill()
      expect(await opened.presence.isGone('host/1 a')).toBe(true)
      expect(await opened.presence.isGone('host/1 b')).toBe(false)
      await living.kill()
    })

    test('does not call a worker gone that came back under the same id', async () => {
      const first = await opened.elsewhere('worker-1')
      await first.kill()
      expect(await opened.presence.isGone('worker-1')).toBe(true)
      const second = await opened.elsewhere('worker-1')
      expect(await opened.presence.isGone('worker-1')).toBe(false)
      await second.kill()
    })

    test('does not claim to know about a worker that never announced itself', async () => {
      expect(await opened.presence.isGone('never-seen')).toBe(false)
    })

    test('lets a worker of this process announce itself, leave and come back', async () => {
      const leave = await opened.presence.announce('mine')
      await leave()
      await leave()
      const again = await opened.presence.announce('mine')
      // The first one's farewell is not the second one's.
      await leave()
      expect(await opened.presence.isGone('mine')).toBe(false)
      await again()
    })
  })
}
