import { setMaxListeners } from 'node:events'
import { EngineError } from '../../../domain/errors.ts'
import type { Clock } from '../../../domain/ports/clock.ts'
import type { Access } from '../../access.ts'
import type { Engine } from '../../engine.ts'
import { type Following, follower } from './follower.ts'
import { liveHub } from './liveHub.ts'
import { pulse } from './pulse.ts'

export type LiveParts = {
  /** Whole: what everybody follows is read once for all. */
  readonly engine: Pick<Engine, 'live'>
  readonly access: Pick<Access, 'isRequired' | 'until'>
  readonly clock: Clock
  /** Told of what is ours to mend. */
  fault(what: string, error: unknown): void
  /** Who may follow at one time, by sockets and streams together. */
  readonly connectionsMax: number
}

export type LiveConnections = {
  count(): number
  /** Takes a place until it leaves. Raises `try_again_later` where there is none. */
  enter(leaving: AbortController): void
  /** Has it leave, with the reason, once its token has ended. */
  watchToken(token: string | null, leaving: AbortController): void
  /** Until the signal of what is followed aborts. Raises what `Engine.live` does. `beat` is called about every second. */
  follow(following: Following, beat: (now: number) => void): Promise<void>
  /** Has everybody leave. */
  end(): void
}

const ended = (why: string): EngineError => new EngineError('unauthenticated', why)

/** Everybody who follows events in this process. */
export const liveConnections = ({ engine, access, clock, fault, connectionsMax }: LiveParts): LiveConnections => {
  const open = new Set<AbortController>()
  const beats = pulse(clock)
  const hub = liveHub({
    follow: (after, signal) => engine.live({ after }, signal),
    fault: (error) => fault('following the log', error),
  })

  /** Where there was no token yet when it came, it may stay until there is one. */
  const watchFirstToken = (leaving: AbortController): void => {
    const stop = beats.each(() => {
      access.isRequired().then(
        (isRequired) => isRequired && leaving.abort(ended('tokens are needed here from now on')),
        (error: unknown) => fault('looking for tokens', error),
      )
    })
    leaving.signal.addEventListener('abort', stop)
  }

  return {
    count: () => open.size,
    enter(leaving) {
      if (open.size >= connectionsMax) {
        throw new EngineError('try_again_later', `${connectionsMax} connections follow events here already: try again later`, { connectionsMax })
      }
      open.add(leaving)
      leaving.signal.addEventListener('abort', () => {
        open.delete(leaving)
        if (open.size === 0) hub.rest()
      })
    },
    watchToken(token, leaving) {
      if (token === null) return watchFirstToken(leaving)
      const until = access.until(token)
      // Of one token there may be any number of connections.
      setMaxListeners(0, until)
      const end = (): void => leaving.abort(ended('the token was revoked or has expired'))
      if (until.aborted) return end()
      until.addEventListener('abort', end)
      leaving.signal.addEventListener('abort', () => until.removeEventListener('abort', end))
    },
    async follow(following, beat) {
      const { run, beat: own } = follower(hub, clock, following)
      const stop = beats.each((now) => {
        own(now)
        beat(now)
      })
      await run().finally(stop)
    },
    end() {
      for (const leaving of open) leaving.abort(new EngineError('closing', 'the server is stopping: follow again from the last position'))
    },
  }
}
