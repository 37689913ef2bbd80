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

const stopping = (): EngineError => new EngineError('closing', 'the server is stopping: follow again from the last position')
const ended = (why: string): EngineError => new EngineError('unauthenticated', why)

/** Everybody who follows events in this process. */
export const liveConnections = ({ engine, access, clock, fault, connectionsMax }: LiveParts): LiveConnections => {
  const open = new Set<AbortController>()
  let isClosing = false
  const beats = pulse(clock)
  const hub = liveHub({
    follow: (after, signal) => engine.live({ after }, signal),
    fault: (error) => fault('following the log', error),
  })

  // Who came when there was no token yet may stay until there is one.
  const anonymous = new Set<AbortController>()
  let stopLooking = (): void => {}
  const lookForTokens = (): void => {
    access.isRequired().then(
      (isRequired) => {
        if (isRequired) for (const leaving of anonymous) leaving.abort(ended('tokens are needed here from now on'))
      },
      (error: unknown) => fault('looking for tokens', error),
    )
  }
  const addAnonymous = (leaving: AbortController): void => {
    if (anonymous.size === 0) stopLooking = beats.each(lookForTokens)
    anonymous.add(leaving)
  }
  const remove = (leaving: AbortController): void => {
    open.delete(leaving)
    if (open.size === 0) hub.rest()
    if (anonymous.delete(leaving) && anonymous.size === 0) stopLooking()
  }

  return {
    count: () => open.size,
    enter(leaving) {
      if (isClosing) throw stopping()
      if (open.size >= connectionsMax) {
        throw new EngineError('try_again_later', `${connectionsMax} connections follow events here already: try again later`, { connectionsMax })
      }
      open.add(leaving)
      leaving.signal.addEventListener('abort', () => remove(leaving))
    },
    watchToken(token, leaving) {
      if (token === null) return addAnonymous(leaving)
      const until = access.until(token)
      // Of one token there may be any number of connections.
      setMaxListeners(0, until)
      const end = (): void => leaving.abort(ended('the token was revoked or has expired'))
      if (until.aborted) return end()
      until.addEventListener('abort', end)
      leaving.signal.addEventListener('abort', () => until.removeEventListener('abort', end))
    },
    follow(following, beat) {
      const { run, beat: own } = follower(hub, clock, following)
      const stop = beats.each((now) => {
        own(now)
        beat(now)
      })
      return run().finally(stop)
    },
    end() {
      isClosing = true
      for (const leaving of open) leaving.abort(stopping())
    },
  }
}
