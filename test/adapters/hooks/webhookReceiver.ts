import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { until } from '../../support/until.ts'

export type Received = { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }

/** A real server of this test alone, that keeps what it was sent and answers as the test says. */
export const webhookReceiver = async (
  answer: (response: ServerResponse, received: Received) => void = (response) => void response.writeHead(204).end(),
) => {
  const received: Received[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (text: string) => (body += text))
    request.on('end', () => {
      const all = { path: request.url ?? '', headers: request.headers, body }
      received.push(all)
      answer(response, all)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  onTestFinished(close)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?token=t0ken`,
    received,
    arrivals: (count: number) => until(`${count} posts`, () => received.length >= count),
    close,
  }
}
