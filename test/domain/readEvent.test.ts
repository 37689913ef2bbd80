import { describe, expect, test } from 'vitest'
import { isKnown, readEvent } from '../../domain/job/readEvent.ts'
import type { StoredEvent } from '../../domain/ports/eventStore.ts'
import { upcast, type Upcasters } from '../../domain/upcast.ts'
import { event, jobId, sha, spec } from '../support/controls.ts'

const storedEvent = (overrides: Partial<StoredEvent> = {}): StoredEvent => ({
  id: '01234567-89ab-8def-8123-456789abcdef',
  stream: `job-${jobId}`,
  revision: 0,
  type: 'JobSubmitted',
  schemaVersion: 1,
  recordedAt: '2026-01-01T00:00:00.000Z',
  data: JSON.stringify(spec()),
  meta: JSON.stringify({ projectId: 'default', actor: 'ann', commandId: 'c' }),
  hash: sha('a'),
  position: '000001',
  ...overrides,
})

describe('reading a stored event', () => {
  test('gives what was stored, in its place', () => {
    expect(readEvent(storedEvent())).toEqual({
      ...event.JobSubmitted(),
      id: '01234567-89ab-8def-8123-456789abcdef',
      jobId,
      revision: 0,
      position: '000001',
      schemaVersion: 1,
      recordedAt: '2026-01-01T00:00:00.000Z',
      meta: { projectId: 'default', actor: 'ann', commandId: 'c' },
      hash: sha('a'),
    })
  })

  test.each([
    ['of a type that this program does not know', { type: 'JobTeleported', schemaVersion: 1 }],
    ['of a type named like something every object has', { type: 'constructor', schemaVersion: 1 }],
    ['of a newer version', { type: 'JobSubmitted', schemaVersion: 2 }],
  ])('%s gives an Unknown with its raw content', (_what, overrides) => {
    const data = { where: ['anywhere'], deep: { json: null } }
    const meta = { projectId: 'default', moon: 'full' }
    const read = readEvent(storedEvent({ ...overrides, data: JSON.stringify(data), meta: JSON.stringify(meta) }))
    expect(isKnown(read)).toBe(false)
    expect(read).toMatchObject({
      type: 'Unknown',
      storedType: overrides.type,
      schemaVersion: overrides.schemaVersion,
      jobId,
      revision: 0,
      position: '000001',
      hash: sha('a'),
      data,
      meta,
    })
  })

  test('of a known type that is stored as a known version is known', () => {
    expect(isKnown(readEvent(storedEvent()))).toBe(true)
  })

  test.each([
    ['whose data does not fit its schema', { data: '{"projectId":"default"}' }, /definitionVersion/],
    ['whose data has a field too many', { type: 'JobStarted', data: '{"extra":1}' }, /extra/],
    ['whose data is no JSON', { data: '{' }, /JSON/],
    ['whose meta does not fit', { meta: '{"projectId":"default"}' }, /commandId/],
    [
      'whose meta has a field too many',
      { meta: '{"projectId":"p","actor":"a","commandId":"c","admin":true}' },
      /admin/,
    ],
    ['of a stream that is no job', { stream: 'tokens' }, 'tokens is not the stream of a job'],
  ])('%s raises, rather than guess', (_what, overrides, reason) => {
    expect(() => readEvent(storedEvent(overrides))).toThrow(reason)
  })

  test('changes nothing in what a stage, a person or a model wrote', () => {
    const value = '{"json":{"constructor":1,"__proto__":{"a":1},"hasOwnProperty":"\\u0000","n":0.1,"🔥":[]}}'
    const data = `{"stage":"intake","key":"k","value":${value}}`
    const read = readEvent(storedEvent({ type: 'CheckpointRecorded', data }))
    expect(JSON.stringify(read.data)).toBe(data)
  })
})

describe('lifting an old event', () => {
  const steps: Upcasters = {
    StageCompleted: [
      (data) => ({ ...(data as object), cost: 0 }),
      ({ cost, ...data }: { cost: number }) => ({ ...data, costUsd: String(cost) }),
    ] as Upcasters[string],
  }

  test('takes one step a version, to the newest', () => {
    expect(upcast(steps, 'StageCompleted', 1, { stage: 'a' })).toEqual({ stage: 'a', costUsd: '0' })
    expect(upcast(steps, 'StageCompleted', 2, { stage: 'a', cost: 7 })).toEqual({ stage: 'a', costUsd: '7' })
    expect(upcast(steps, 'StageCompleted', 3, { stage: 'a', costUsd: '7' })).toEqual({ stage: 'a', costUsd: '7' })
  })

  test('leaves types without steps alone', () => {
    const data = { stage: 'a' }
    expect(upcast(steps, 'JobStarted', 1, data)).toBe(data)
    expect(upcast({}, 'StageCompleted', 1, data)).toBe(data)
  })

  test('does not change the stored data', () => {
    const data = Object.freeze({ stage: 'a' })
    upcast(steps, 'StageCompleted', 1, data)
    expect(data).toEqual({ stage: 'a' })
  })
})
