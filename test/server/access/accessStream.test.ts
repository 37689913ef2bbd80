import { readFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { sha256 } from '../../../adapters/system/sha256.ts'
import type { EventStore, SealedEvent, StoredEvent } from '../../../domain/ports/eventStore.ts'
import { chainStart, seal, sealHash } from '../../../domain/seal.ts'
import { accessStream, readAccessEvent } from '../../../server/access/accessEvents.ts'
import { foldTokens, isLive, noTokens } from '../../../server/access/tokens.ts'
import { verifyLog } from '../../../server/audit/verifyLog.ts'
import { defineJob } from '../../../server/defineJob.ts'
import { asks, heldProvider, heldWorld } from '../../support/heldPlace.ts'
import { logOf } from '../auditedLog.ts'

const nothingToDo = defineJob({ type: 'custom', version: 1, input: z.unknown(), stages: [{ name: 'only', run: async () => null }] })

/** Tokens between, before and behind the events of jobs, all in one log. */
const mixedLog = async () => {
  const world = heldWorld(nothingToDo, heldProvider().provider)
  const place = world.open()
  onTestFinished(() => place.close())
  const { access, engine } = place
  await access.create({ name: 'ann', role: 'admin', projects: null, expiresAt: null })
  await engine.submit(world.submission({ idempotencyKey: 'one' }))
  await access.create({ name: 'bob', role: 'read', projects: ['red'], expiresAt: '2030-01-01T00:00:00.000Z' })
  await world.clock.until(place.work({ once: true }))
  await engine.submit(world.submission({ idempotencyKey: 'two' }))
  await access.revoke('bob')
  return { ...world, place }
}

const wholeLog = async (events: EventStore): Promise<readonly StoredEvent[]> => (await events.readAll()).events
/** What is found in the log once its events of tokens are what `change` makes of them; null takes one out. */
const foundAfter = async (change: (event: StoredEvent) => Partial<SealedEvent> | null) => {
  const { events, artifacts } = await mixedLog()
  const changed = (await wholeLog(events)).map((event) => {
    const by = event.stream === accessStream ? change(event) : {}
    return by === null ? null : { ...event, ...by }
  })
  const { findings } = await verifyLog({ events: logOf(changed.filter((event) => event !== null)), artifacts, sha256 })
  return findings.map(({ rule, stream, revision }) => [rule, stream, revision])
}

describe('the stream of the tokens', () => {
  test('is verified like every other, and is no job', async () => {
    const { place, events } = await mixedLog()
    const log = await wholeLog(events)
    expect(log.filter(({ stream }) => stream === accessStream).map(({ type }) => type)).toEqual(['TokenCreated', 'TokenCreated', 'TokenRevoked'])
    expect(await place.engine.verifyLog()).toMatchObject({ jobs: 2, events: log.length, findings: [] })
  })

  test.each(['data', 'meta', 'recordedAt', 'type'] as const)('is found broken where one byte of the %s is another', async (field) => {
    const text = (event: StoredEvent): string => (field === 'recordedAt' ? event.recordedAt.replace('2026', '2027') : `${event[field]} `)
    expect((await foundAfter((event) => (event.revision === 1 ? { [field]: text(event) } : {})))[0]).toEqual(['hash', accessStream, 1])
  })

  test('is found broken where an event was taken out', async () => {
    expect(await foundAfter(({ revision }) => (revision === 1 ? null : {}))).toContainEqual(['gapless', accessStream, 2])
  })

  test('is found broken where what is sealed as it should be cannot be read', async () => {
    let previous = chainStart(accessStream, sha256)
    const found = await foundAfter((event) => {
      const by = event.revision === 1 ? { type: 'TokenBlessed' } : { data: event.data.replace('"admin"', '"god"') }
      const [sealed] = seal([{ ...event, ...by }], previous, sha256)
      previous = sealed!.hash
      return sealed!
    })
    expect(found).toEqual([
      ['schema', accessStream, 0],
      ['unknown_event', accessStream, 1],
    ])
  })

  test('is nothing to the views: they are up to date, equal to a fresh fold, and hold jobs alone', async () => {
    const { place, events, clock } = await mixedLog()
    const views = await clock.until(place.engine.projections())
    expect(views.map(({ name, upToDate }) => [name, upToDate])).toEqual(views.map(({ name }) => [name, true]))
    expect(views.find(({ name }) => name === 'jobList')?.documents).toBe(2)
    expect((await clock.until(place.engine.verifyProjections([]))).every(({ equal }) => equal)).toBe(true)
    expect((await wholeLog(events)).at(-1)?.stream).toBe(accessStream)
  })

  test('is shown to nobody who follows the jobs', async () => {
    const { place } = await mixedLog()
    const types = new Set<string>()
    for await (const frame of place.engine.live({ after: 'start' }, new AbortController().signal)) {
      if (frame.kind === 'caught_up') break
      types.add(frame.event.type)
    }
    expect([...types].filter((type) => type.startsWith('Token') || type === 'Unknown')).toEqual([])
    expect(types.has('JobSubmitted')).toBe(true)
  })

  test('keeps nobody from working jobs', async () => {
    const { provider, sends } = heldProvider()
    const world = heldWorld(asks('a'), provider)
    const place = world.open()
    onTestFinished(() => place.close())
    await place.access.create({ name: 'ann', role: 'read', projects: null, expiresAt: null })
    const { jobId } = await place.engine.submit(world.submission())
    const working = place.work({ only: jobId })
    while (sends.length === 0) await world.clock.advance(10)
    await place.access.revoke('ann')
    sends[0]?.answer()
    await world.clock.until(working)
    expect(await place.engine.status(jobId)).toMatchObject({ state: 'succeeded' })
  })
})

describe('a stored event of the tokens', () => {
  test.each(['TokenCreated', 'TokenRevoked'])('as it was first released is read for good: %s', (type) => {
    const file = new URL(`../../fixtures/access/${type}.v1.json`, import.meta.url)
    const stored = JSON.parse(readFileSync(file, 'utf8')) as SealedEvent & { previousHash: string }
    expect(sealHash(stored, stored.previousHash, sha256)).toBe(stored.hash)
    expect(readAccessEvent(stored)).toEqual({ type, data: JSON.parse(stored.data) as unknown })
  })

  test('that was folded already changes nothing', async () => {
    const events = (await wholeLog((await mixedLog()).events)).filter(({ stream }) => stream === accessStream)
    const folded = foldTokens(noTokens, events)
    expect(foldTokens(folded, events)).toEqual(folded)
    expect([...folded.byId.values()].map((token) => [token.name, isLive(token, 0)])).toEqual([
      ['ann', true],
      ['bob', false],
    ])
  })
})
