import { Interrupted } from '../../../defineJob.ts'
import type { DocumentType } from '../datasetInput.ts'
import { parseThread, type ParseLimits, type ParseThread } from './parseThread.ts'
import { readDocument, type ReadDocument } from './readDocument.ts'

/**
 * The compiled program of a thread, which the build puts beside this file. None where the program runs from its
 * TypeScript, which a thread cannot load: documents are then read where they are asked for.
 */
const compiled = import.meta.url.endsWith('.ts') ? null : new URL('./parseWorker.js', import.meta.url)

const limitsOfDocument: ParseLimits = { secondsMax: 300, memoryMbMax: 2_048 }

/** Read at once where they are: sending them to a thread would take longer. */
const lightTypes: ReadonlySet<DocumentType> = new Set(['text/plain', 'text/markdown'])
const lightBytesMax = 16_384

export type ApartDocument = {
  readonly type: DocumentType
  readonly name: string
  readonly bytes: number
  /** Called when there is room for it. */
  load(): Promise<Uint8Array>
}

export type ParseApart = {
  /** Raises what `parseDocument` does, `InvalidInputError` for a limit that is crossed, and `Interrupted`. */
  read(document: ApartDocument): Promise<ReadDocument>
  /** Ends the threads. */
  close(): Promise<void>
}

/**
 * Reads documents in threads of their own, at most so many at once: one that is hostile or huge holds up nothing and
 * takes nobody with it. Threads are started as they are needed, and end when `signal` aborts.
 */
export const parseApart = (options: {
  readonly threads: number
  readonly signal: AbortSignal
  readonly program?: URL | null
  readonly limits?: ParseLimits
}): ParseApart => {
  const { signal, program = compiled, limits = limitsOfDocument } = options
  const threads = new Set<ParseThread>()
  const idle: ParseThread[] = []
  const waiting: (() => void)[] = []
  let free = options.threads

  const endAll = async (): Promise<void> => {
    await Promise.all([...threads].map((thread) => thread.end()))
    threads.clear()
  }
  const abort = (): void => void endAll()
  signal.addEventListener('abort', abort)

  const started = (of: URL): ParseThread => {
    const thread = parseThread(of, limits)
    threads.add(thread)
    return thread
  }

  const readIn = async (of: URL, document: ApartDocument): Promise<ReadDocument> => {
    const { type, name } = document
    const content = await document.load()
    if (signal.aborted) throw new Interrupted()
    const thread = idle.pop() ?? started(of)
    try {
      return await thread.read({ type, name, content })
    } catch (error) {
      if (signal.aborted) throw new Interrupted()
      throw error
    } finally {
      if (thread.isAlive()) idle.push(thread)
      else threads.delete(thread)
    }
  }

  return {
    read: async (document) => {
      const { type, name, bytes } = document
      if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve))
      else free -= 1
      try {
        const isHere = program === null || (lightTypes.has(type) && bytes <= lightBytesMax)
        return await (isHere ? readDocument({ type, name, content: await document.load() }) : readIn(program, document))
      } finally {
        const next = waiting.shift()
        if (next === undefined) free += 1
        else next()
      }
    },
    close: async () => {
      signal.removeEventListener('abort', abort)
      await endAll()
    },
  }
}
