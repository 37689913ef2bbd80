import { WebSocket } from 'ws'
import { until } from './until.ts'

/** A frame as it came over the wire. */
export type WireFrame =
  | { readonly kind: 'event'; readonly position: string; readonly event: { readonly id: string; readonly jobId: string; readonly type: string } }
  | { readonly kind: 'caught_up'; readonly position: string }
  | { readonly kind: 'error'; readonly code: string; readonly message: string }

/** A socket of live events, and all that it was told. */
export const openSocket = (
  url: string,
  query: string,
  options: { readonly token?: string; readonly protocols?: readonly string[]; readonly origin?: string; readonly autoPong?: boolean } = {},
) => {
  const { token, protocols = [], origin, autoPong = true } = options
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/events/live${query}`, [...protocols], {
    autoPong,
    ...(origin === undefined ? {} : { origin }),
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  })
  const frames: WireFrame[] = []
  const closed = new Promise<number>((resolve) => socket.on('close', resolve))
  let refused: string | null = null
  socket.on('error', (error) => (refused = error.message))
  socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString()) as WireFrame))
  return {
    socket,
    frames,
    /** The code it was closed with. */
    closed,
    refused: () => refused,
    events: () => frames.flatMap((frame) => (frame.kind === 'event' ? [frame.event] : [])),
    /** Once so many events have come, and then the mark behind them where there is one. */
    told: (count: number) => until(`${count} events`, () => frames.filter(({ kind }) => kind === 'event').length >= count),
    caughtUp: () => until('the mark of the end', () => frames.some(({ kind }) => kind === 'caught_up')),
  }
}
