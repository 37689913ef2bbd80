import type { Socket } from 'node:net'
import { EngineError } from '../../domain/errors.ts'
import { problemMediaType, problemOf, problemText } from './problems.ts'

const messages: Readonly<Record<string, readonly [code: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'the headers are over 16 KiB'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'the request took too long to arrive'],
}

/** Answers what is not HTTP, so that nobody waits for an answer that cannot come. */
export const answerBrokenRequest = (error: Error & { readonly code?: string }, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [code, message] = messages[error.code ?? ''] ?? ['invalid_input', 'the request is not HTTP']
  const problem = problemOf(new EngineError(code, message))
  const body = problemText(problem)
  socket.end(
    [
      `HTTP/1.1 ${problem.status} ${problem.title}`,
      'Connection: close',
      `Content-Type: ${problemMediaType}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n'),
  )
}
