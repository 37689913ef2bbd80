import type { Connect, LiveSocket } from '../../../server/client/connectSocket.ts'

type Listeners = { message: ((event: { data: unknown }) => void)[]; close: ((event: { code: number }) => void)[]; error: ((event: object) => void)[] }

/** The other end of a socket that a test plays. */
export type PlayedSocket = {
  readonly url: string
  readonly protocols: readonly string[]
  /** Says a frame, or any other text. */
  say(frame: unknown): void
  end(code: number): void
  /** As where nobody listens at the address. */
  fail(message: string): void
  isClosed(): boolean
  isPaused(): boolean
}

/** Sockets that a test plays the server of, in the order in which they were opened. `native`: as browsers have them. */
export const playedSockets = (options: { readonly native?: boolean } = {}) => {
  const sockets: PlayedSocket[] = []
  const connect: Connect = (url, protocols) => {
    const listeners: Listeners = { message: [], close: [], error: [] }
    let [closed, paused] = [false, false]
    const end = (code: number): void => {
      if (closed) return
      closed = true
      for (const listen of listeners.close) listen({ code })
    }
    const socket: LiveSocket = {
      addEventListener: (type: keyof Listeners, listener: never) => void listeners[type].push(listener),
      close: () => end(1000),
      ...(options.native === true ? {} : { pause: () => (paused = true), resume: () => (paused = false), terminate: () => end(1006) }),
    }
    sockets.push({
      url,
      protocols,
      say: (frame) => listeners.message.forEach((listen) => listen({ data: typeof frame === 'string' ? frame : JSON.stringify(frame) })),
      end,
      fail: (message) => {
        for (const listen of listeners.error) listen({ message })
        end(1006)
      },
      isClosed: () => closed,
      isPaused: () => paused,
    })
    return socket
  }
  return { sockets, connect }
}
