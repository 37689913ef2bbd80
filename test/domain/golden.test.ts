import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { eventData, EventMeta, type EventType, schemaVersions } from '../../domain/job/events.ts'
import { isKnown, readEvent } from '../../domain/job/readEvent.ts'
import type { StoredEvent } from '../../domain/ports/eventStore.ts'
import { chainStart, seal, type Unsealed } from '../../domain/seal.ts'
import { eventExamples, eventTypes, instant, jobId, projectId } from '../support/controls.ts'

const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')
const fixtures = new URL('../fixtures/', import.meta.url)
const isUpdating = process.env['UPDATE_GOLDEN'] === '1'
const howTo =
  'A released shape never changes: raise its schema version, add an upcaster and a golden file of the new version. ' +
  'Until v0.1.0 shapes may change freely: UPDATE_GOLDEN=1 npx vitest run --config test/vitest.config.ts test/domain/golden'

/** One stored event, and the hash of the event it was chained to. */
type Golden = Omit<StoredEvent, 'position'> & { readonly previousHash: string }

const goldenFile = (type: string, version: number): URL => new URL(`events/${type}.v${version}.json`, fixtures)
const read = (file: URL): unknown => JSON.parse(readFileSync(file, 'utf8'))
const write = (file: URL, value: unknown): void => writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)

const sealed = (unsealed: Unsealed, previousHash: string): Golden => {
  const [event] = seal([unsealed], previousHash, sha256)
  if (event === undefined) throw new Error('nothing was sealed')
  return { ...event, previousHash }
}

/** Written by people, or by whoever sees that an owner is silent or that a wait is over. */
const byNoOwner: ReadonlySet<EventType> = new Set([
  'JobSubmitted',
  'LeaseExpired',
  'BackoffElapsed',
  'JobRetried',
  'PauseRequested',
  'JobResumed',
  'CancellationRequested',
  'ProviderCallOrphaned',
  'ProviderCallReconciled',
  'BudgetRaised',
])

const newGolden = (type: EventType, place: number): Golden => {
  const stream = `job-${jobId}`
  const isFirst = type === 'JobSubmitted'
  const meta = {
    projectId,
    actor: 'ann',
    commandId: `command-${place}`,
    ...(byNoOwner.has(type) ? {} : { leaseToken: 1 }),
  }
  return sealed(
    {
      stream,
      revision: isFirst ? 0 : place,
      type,
      schemaVersion: schemaVersions[type],
      recordedAt: instant(place),
      data: JSON.stringify(eventExamples[type]),
      meta: JSON.stringify(EventMeta.parse(meta)),
    },
    isFirst ? chainStart(stream, sha256) : sha256(`the event before ${type}`),
  )
}

const versionsOf = (type: EventType): readonly number[] =>
  Array.from({ length: schemaVersions[type] }, (_, index) => index + 1)

if (isUpdating) {
  eventTypes.forEach((type, place) => write(goldenFile(type, schemaVersions[type]), newGolden(type, place)))
}

const everyVersion = eventTypes.flatMap((type) => versionsOf(type).map((version) => [type, version] as const))

describe('the golden file of a released event', () => {
  test.each(everyVersion)('%s version %i is there', (type, version) => {
    expect(existsSync(goldenFile(type, version)) ? 'is there' : howTo).toBe('is there')
  })

  test.each(everyVersion)(
    '%s version %i is read, lifted to today and has the id and hash it was sealed with',
    (type, version) => {
      const { previousHash, ...stored } = read(goldenFile(type, version)) as Golden
      expect([stored.type, stored.schemaVersion]).toEqual([type, version])
      const { id: _id, hash: _hash, ...unsealed } = stored
      expect(sealed(unsealed, previousHash)).toEqual({ ...stored, previousHash })
      const event = readEvent({ ...stored, position: '1' })
      expect(isKnown(event) ? 'is read' : howTo).toBe('is read')
      expect(event).toMatchObject({ type, revision: stored.revision, meta: JSON.parse(stored.meta) as object })
    },
  )

  test.each(eventTypes)('%s of today is read to exactly the bytes it was stored as', (type) => {
    const { previousHash: _previous, ...stored } = read(goldenFile(type, schemaVersions[type])) as Golden
    const { data, meta } = readEvent({ ...stored, position: '1' })
    expect([JSON.stringify(data), JSON.stringify(meta)]).toEqual([stored.data, stored.meta])
  })

  test('is the only kind of file beside it', () => {
    const names = everyVersion.map(([type, version]) => `${type}.v${version}.json`)
    expect(readdirSync(new URL('events/', fixtures)).sort()).toEqual(names.sort())
  })
})

/** What a schema demands, in one line for each type and version. */
const fingerprint = (schema: z.ZodType): string => sha256(JSON.stringify(z.toJSONSchema(schema))).slice(0, 16)
const shapesNow = (): Readonly<Record<string, string>> =>
  Object.fromEntries([
    ...eventTypes.map((type) => [`${type}.v${schemaVersions[type]}`, fingerprint(eventData[type])]),
    ['meta', fingerprint(EventMeta)],
  ])

const schemasFile = new URL('schemas.json', fixtures)
if (isUpdating) {
  const before = existsSync(schemasFile) ? (read(schemasFile) as object) : {}
  write(schemasFile, { ...before, ...shapesNow() })
}

describe('the shape of an event', () => {
  const known = existsSync(schemasFile) ? (read(schemasFile) as Record<string, string>) : {}

  test.each(Object.entries(shapesNow()))('%s is the one its golden file was written with', (name, shape) => {
    expect(known[name] === shape ? 'is on record' : `${name} is ${known[name]}, now ${shape}. ${howTo}`).toBe(
      'is on record',
    )
  })

  test('is on record for every version that ever was, and for nothing else', () => {
    const names = [...everyVersion.map(([type, version]) => `${type}.v${version}`), 'meta']
    expect(Object.keys(known).sort()).toEqual(names.sort())
  })

  test('is told apart by a field, a bound and a choice', () => {
    const base = fingerprint(z.strictObject({ a: z.int() }))
    expect(fingerprint(z.strictObject({ a: z.int(), b: z.int().optional() }))).not.toBe(base)
    expect(fingerprint(z.strictObject({ a: z.int().positive() }))).not.toBe(base)
    expect(fingerprint(z.object({ a: z.int() }))).not.toBe(fingerprint(z.looseObject({ a: z.int() })))
    expect(fingerprint(z.enum(['a', 'b']))).not.toBe(fingerprint(z.enum(['a'])))
    expect(fingerprint(z.strictObject({ a: z.int() }))).toBe(base)
  })
})
