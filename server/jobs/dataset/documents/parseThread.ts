import { Worker } from 'node:worker_threads'
import { z } from 'zod'
import { InvalidInputError } from '../../../../domain/errors.ts'
import { ReadDocument, type ReadRequest } from './readDocument.ts'
import { wrongDocument } from './wrongDocument.ts'

export const ReadAnswer = z.union([
  z.strictObject({ read: ReadDocument }),
  z.strictObject({ refused: z.strictObject({ message: z.string(), details: z.record(z.string(), z.unknown()) }) }),
  z.strictObject({ fault: z.string() }),
])
export type ReadAnswer = z.infer<typeof ReadAnswer>

/** What one document may take. */
export type ParseLimits = { readonly secondsMax: number; readonly memoryMbMax: number }

export type ParseThread = {
  /** One document at a time. Raises `InvalidInputError` naming document and limit; the thread is then gone. */
  read(request: ReadRequest): Promise<ReadDocument>
  isAlive(): boolean
  end(): Promise<void>
}

export const parseThread = (program: URL, limits: ParseLimits): ParseThread => {
  // What was loaded in front of the process (`--import`) was meant for it, and may end whatever it runs in.
  const worker = new Worker(program, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: limits.memoryMbMax } })
  // Without a listener a thread that dies between two documents would end the process.
  worker.on('error', () => {})
  let isAlive = true
  const end = async (): Promise<void> => {
    isAlive = false
    await worker.terminate()
  }

  const answerTo = async (request: ReadRequest): Promise<ReadAnswer> => {
    try {
      return ReadAnswer.parse(await answered(worker, request, limits))
    } catch (error) {
      await end()
      throw error
    }
  }

  return {
    read: async (request) => {
      const answer = await answerTo(request)
      if ('read' in answer) return answer.read
      if ('refused' in answer) throw new InvalidInputError(answer.refused.message, answer.refused.details)
      throw new Error(`${request.name} could not be read: ${answer.fault}`)
    },
    isAlive: () => isAlive,
    end,
  }
}

const answered = (worker: Worker, request: ReadRequest, { secondsMax, memoryMbMax }: ParseLimits): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const settled = (settle: () => void): void => {
      clearTimeout(late)
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
      settle()
    }
    const refuse = (says: string, details: Readonly<Record<string, unknown>>): void =>
      settled(() => reject(wrongDocument(request.name, says, details)))
    const onMessage = (answer: unknown): void => settled(() => resolve(answer))
    const onExit = (): void => settled(() => reject(new Error(`the thread that read ${request.name} has ended`)))
    const onError = (error: NodeJS.ErrnoException): void => {
      if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') settled(() => reject(error))
      else refuse(`is not read within ${memoryMbMax} MB of memory`, { rule: 'memory', memoryMbMax })
    }
    const onLate = (): void => refuse(`is not read within ${secondsMax} seconds`, { rule: 'time', secondsMax })
    const late = setTimeout(onLate, secondsMax * 1_000)
    worker.on('message', onMessage).on('error', onError).on('exit', onExit)
    worker.postMessage(request, [])
  })
