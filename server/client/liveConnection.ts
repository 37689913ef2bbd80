import type { Connect, LiveSocket } from './connectSocket.ts'
import { type ErrorFrame, type FollowedFrame, readFrame } from './liveFrame.ts'

/** Why a connection is over. */
export type Ending = {
  /** The code that it was closed with; null where this side ended it. */
  readonly code: number | null
  readonly reason: string
  readonly error: ErrorFrame | null
  /** The reader fell behind, and nothing is wrong: connect again at once. */
  readonly isBehind: boolean
  /** Nothing was heard of the server for too long. */
  readonly isSilent: boolean
}

/** One connection, as frames that wait until they are read. */
export type LiveConnection = {
  /** The next frame; null once it is over and everything has been read. */
  next(): Promise<FollowedFrame | null>
  ending(): Ending
  close(): void
}

type Setting = {
  readonly connect: Connect
  readonly protocols: readonly string[]
  /** How long a server that is alive may say nothing. */
  readonly silentMsMax: number
  sleep(ms: number, signal: AbortSignal): Promise<void>
  readonly signal: AbortSignal
}

/** Frames that may wait for their reader. */
const waitingMax = 1_000

export const liveConnection = (url: string, setting: Setting): LiveConnection => {
  const { connect, protocols, silentMsMax, sleep, signal } = setting
  const waiting: FollowedFrame[] = []
  const over = new AbortController()
  let ending: Ending = { code: null, reason: 'ended here', error: null, isBehind: false, isSilent: false }
  let socket: LiveSocket | null = null
  let error: ErrorFrame | null = null
  let [heard, isPaused] = [0, false]
  let wake = (): void => {}

  const end = (how: Partial<Ending>): void => {
    if (over.signal.aborted) return
    ending = { ...ending, error, ...how }
    over.abort()
    signal.removeEventListener('abort', close)
    wake()
  }
  const close = (): void => {
    end({})
    socket?.close()
  }

  const take = (data: unknown): void => {
    if (over.signal.aborted) return
    heard += 1
    const frame = readFrame(data)
    if (frame === null) return
    if (frame.kind === 'error') return void (error = frame)
    waiting.push(frame)
    wake()
    if (waiting.length < waitingMax) return
    if (socket?.pause === undefined) return cut({ reason: 'the reader is behind', isBehind: true })
    socket.pause()
    isPaused = true
  }

  /** Whatever comes after this is not read any more. */
  const cut = (how: Partial<Ending>): void => {
    end(how)
    if (socket?.terminate === undefined) socket?.close()
    else socket.terminate()
  }

  const listen = (opened: LiveSocket): void => {
    socket = opened
    opened.addEventListener('message', ({ data }) => {
      try {
        take(data)
      } catch {
        cut({ reason: 'what came is no frame' })
      }
    })
    opened.addEventListener('error', (event) => {
      const message = 'message' in event ? String(event.message) : ''
      if (message !== '') ending = { ...ending, reason: message }
    })
    opened.addEventListener('close', ({ code }) => end({ code, ...(error === null ? {} : { reason: error.message }) }))
    if (over.signal.aborted) opened.close()
  }

  const watch = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const before = heard
      await sleep(silentMsMax, over.signal)
      if (heard === before && !isPaused) cut({ reason: `the server said nothing for ${silentMsMax / 1_000} s`, isSilent: true })
    }
  }

  const open = async (): Promise<void> => {
    try {
      ending = { ...ending, reason: 'the connection was lost' }
      listen(await connect(url, protocols))
    } catch (cause) {
      end({ reason: cause instanceof Error ? cause.message : String(cause) })
    }
  }

  if (signal.aborted) close()
  else {
    signal.addEventListener('abort', close)
    void open()
    void watch()
  }

  return {
    async next() {
      for (;;) {
        const frame = waiting.shift()
        if (isPaused && waiting.length === 0) {
          isPaused = false
          socket?.resume?.()
        }
        if (frame !== undefined) return frame
        if (over.signal.aborted) return null
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
    ending: () => ending,
    close,
  }
}
