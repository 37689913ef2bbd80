import { WebSocket } from 'ws'

/** Follows a log from its start, over any loss of the connection. */
export const follow = (url: string, query: string, take: (event: { id: string }) => void): (() => void) => {
  let [after, stopped] = ['start', false]
  let socket: WebSocket
  const connect = () => {
    socket = new WebSocket(`${url.replace('http', 'ws')}/v1/events/live?after=${after}${query}`)
    socket.on('message', (text: Buffer) => {
      const frame = JSON.parse(text.toString())
      if (frame.kind === 'event') take(frame.event)
      if (frame.kind !== 'error') after = frame.position
    })
    socket.on('error', () => {})
    socket.on('close', () => stopped || setTimeout(connect, 1))
  }
  connect()
  return () => {
    stopped = true
    socket.close()
  }
}
