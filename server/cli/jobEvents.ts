import type { JobEvent, UnknownEvent } from '../../domain/job/events.ts'
import type { Engine } from '../engine.ts'
import type { Call, Run } from './call.ts'
import { eventDetails } from './eventDetails.ts'
import { type ExitCode, exitCode } from './exitCode.ts'
import { options } from './options.ts'
import { plainText } from './plainText.ts'
import { withEngine } from './store.ts'
import { UsageError } from './usageError.ts'

type Event = JobEvent | UnknownEvent

/** So many events are held in memory at one time, however long the job's history. */
const pageSize = 500

/** A job's history in order, written as it is read. */
export const jobEvents: Run = async (call) => {
  if (call.given(options.eventsTail) !== undefined && call.given(options.eventsAfter) !== undefined) {
    throw new UsageError('invalid_option', 'give --after or --tail, not both', { options: ['--after', '--tail'] })
  }
  return withEngine(call, async (engine) => {
    const handle = await engine.resolve(call.args[0] ?? '')
    const after = await firstRevisionAfter(engine, handle, call)
    const limit = call.given(options.eventsLimit) ?? Infinity
    const pages = pagesOf(engine, handle, after, limit)
    if (call.given(options.jsonl) ?? false) return writeEach(pages, call, (event) => JSON.stringify(event))
    return call.json ? writeDocument(pages, call) : writeEach(pages, call, eventLines(call.shell.stdout.isTerminal))
  })
}

const firstRevisionAfter = async (engine: Engine, handle: string, call: Call): Promise<number | undefined> => {
  const tail = call.given(options.eventsTail)
  if (tail === undefined) return call.given(options.eventsAfter)
  const { revision } = await engine.status(handle)
  return revision < tail ? undefined : revision - tail
}

type EventPage = { readonly items: readonly Event[]; readonly nextCursor: string | null }

async function* pagesOf(engine: Engine, handle: string, after: number | undefined, limit: number): AsyncGenerator<EventPage> {
  let left = limit
  let from = after
  while (left > 0) {
    const wanted = Math.min(pageSize, left)
    const page = await engine.events(handle, { limit: wanted, ...(from === undefined ? {} : { afterRevision: from }) })
    yield page
    from = page.items.at(-1)?.revision
    left -= page.items.length
    if (page.nextCursor === null || from === undefined) return
  }
}

const writeEach = async (
  pages: AsyncIterable<EventPage>,
  { shell }: Call,
  text: (event: Event) => string,
): Promise<ExitCode> => {
  for await (const { items } of pages) {
    if (!(await shell.stdout.write(items.map((event) => `${text(event)}\n`).join('')))) break
  }
  return exitCode.done
}

/** One document, written in parts: a history may be larger than memory. */
const writeDocument = async (pages: AsyncIterable<EventPage>, { shell }: Call): Promise<ExitCode> => {
  let next: string | null = null
  let written = 0
  await shell.stdout.write('{"items":[')
  for await (const { items, nextCursor } of pages) {
    next = nextCursor
    const text = items.map((event) => JSON.stringify(event)).join(',')
    if (!(await shell.stdout.write(written > 0 && items.length > 0 ? `,${text}` : text))) return exitCode.done
    written += items.length
  }
  await shell.stdout.write(`],"nextCursor":${JSON.stringify(next)}}\n`)
  return exitCode.done
}

/** For a person the day stands above its events, so that a line has room for what happened; elsewhere in each line. */
const eventLines = (isTerminal: boolean): ((event: Event) => string) => {
  let day = ''
  return (event) => {
    const [date = '', time = ''] = event.recordedAt.split('T')
    if (!isTerminal) return eventLine(event, event.recordedAt)
    const line = eventLine(event, time.replace('Z', ''))
    const heading = date === day ? '' : `${date} (UTC)\n`
    day = date
    return heading + line
  }
}

const eventLine = (event: Event, at: string): string => {
  const [type, details] =
    event.type === 'Unknown'
      ? [event.storedType, `version ${event.schemaVersion}, of a newer program`]
      : [event.type, eventDetails(event)]
  return plainText(`${String(event.revision).padStart(6)}  ${at}  ${type.padEnd(22)}  ${details}`.trimEnd())
}
