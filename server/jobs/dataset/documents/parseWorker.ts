import { parentPort } from 'node:worker_threads'
import { EngineError } from '../../../../domain/errors.ts'
import { readDocument, ReadRequest } from './readDocument.ts'
import type { ReadAnswer } from './parseThread.ts'

/** A thread that reads one document after another: `ReadRequest` in, `ReadAnswer` out. */
const answerTo = async (request: unknown): Promise<ReadAnswer> => {
  try {
    return { read: await readDocument(ReadRequest.parse(request)) }
  } catch (error) {
    if (error instanceof EngineError) return { refused: { message: error.message, details: { ...error.details } } }
    return { fault: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

parentPort?.on('message', (request: unknown) => void answerTo(request).then((answer) => parentPort?.postMessage(answer, [])))
