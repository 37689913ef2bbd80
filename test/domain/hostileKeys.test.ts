import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Command } from '../../domain/job/commands.ts'
import { eventData, EventMeta, JobSpec, type Limits, RaisedLimits } from '../../domain/job/events.ts'
import { PriceProfile, Usage } from '../../domain/pricing.ts'
import { command, commandTypes, eventExamples, eventTypes, limits, spec, usage } from '../support/controls.ts'

/** As JSON text brings it: `__proto__` as a key of the object's own. */
const withProto = (value: object, proto: unknown = 'x'): object =>
  Object.defineProperty({ ...value }, '__proto__', { value: proto, enumerable: true })

const inherited = { constructor: 'a', prototype: 'b', hasOwnProperty: 'c', toString: 'd', valueOf: 'e' }
const profile = { id: 'p', effectiveFrom: '2026-01-01', provider: 'offline', models: {} }

describe('a key named __proto__', () => {
  test.each([
    ['labels', spec({ labels: withProto({ team: 'red' }) as Record<string, string> })],
    ['call parameters', spec({ parameters: withProto({ temperature: 0 }) as Record<string, unknown> })],
    ['rate limits', spec({ rateLimits: withProto({}) as JobSpec['rateLimits'] })],
    ['limits', spec({ limits: withProto(limits()) as Limits })],
    ['an input', spec({ input: withProto({ json: 1 }) as JobSpec['input'] })],
    ['a spec', withProto(spec())],
  ])('in %s is refused, never dropped', (_where, hostile) => {
    expect(JobSpec.safeParse(hostile).success).toBe(false)
  })

  test('is named where it is refused', () => {
    const refused = JobSpec.safeParse(spec({ labels: withProto({ team: 'red' }) as Record<string, string> }))
    expect(refused.error?.issues).toMatchObject([
      { path: ['labels', '__proto__'], message: 'is a key that is not allowed' },
    ])
  })

  test('among the models of a price profile is refused', () => {
    const price = { inputPerMTok: '1', cachedInputPerMTok: '1', outputPerMTok: '1' }
    expect(PriceProfile.safeParse({ ...profile, models: withProto({ m: price }, price) }).success).toBe(false)
    expect(PriceProfile.safeParse({ ...profile, models: { constructor: price } }).success).toBe(true)
  })

  test.each(eventTypes)('in the data of %s is refused', (type) => {
    expect(eventData[type].safeParse(withProto(eventExamples[type])).success).toBe(false)
  })

  test.each(commandTypes)('in the command %s is refused', (type) => {
    expect(Command.safeParse(withProto(command[type]())).success).toBe(false)
  })

  test.each([
    ['usage', Usage, usage],
    ['raised limits', RaisedLimits, {}],
    ['meta', EventMeta, { projectId: 'p', actor: 'a', commandId: 'c' }],
  ])('in %s is refused', (_what, schema: z.ZodType, example) => {
    expect(schema.safeParse(example).success).toBe(true)
    expect(schema.safeParse(withProto(example)).success).toBe(false)
  })
})

describe('keys that every object seems to have', () => {
  test('are kept in labels, parameters and inputs', () => {
    const hostile = spec({ labels: inherited, parameters: { nested: inherited }, input: { json: inherited } })
    expect(JobSpec.parse(JSON.parse(JSON.stringify(hostile)))).toEqual(hostile)
  })

  test('leave no trace in the job of somebody else', () => {
    JobSpec.parse(spec({ labels: inherited }))
    expect(Object.keys(JobSpec.parse(spec({ labels: {} })).labels)).toEqual([])
  })
})

describe('every example of the controls', () => {
  test.each(eventTypes)('of the event %s fits its schema and loses nothing in it', (type) => {
    const read: unknown = eventData[type].parse(eventExamples[type])
    expect(read).toEqual(eventExamples[type])
  })

  test.each(commandTypes)('of the command %s fits its schema and loses nothing in it', (type) => {
    const example = command[type]()
    expect(Command.parse(example)).toEqual(example)
  })

  test('of a spec refuses two stages of one name, of which the second could never be reached', () => {
    expect(JobSpec.safeParse(spec({ stages: ['intake', 'intake'] })).success).toBe(false)
  })
})

describe('the schemas of events and commands', () => {
  test('hold no record that drops a key in silence', () => {
    const dropping: string[] = []
    const walk = (schema: unknown, place: string, guarded: boolean): void => {
      if (!(schema instanceof z.ZodType)) return
      if (schema instanceof z.ZodRecord && !guarded) dropping.push(place)
      for (const [name, part] of Object.entries(schema.def) as [string, unknown][]) {
        const parts = Array.isArray(part)
          ? part
          : part !== null && typeof part === 'object'
            ? [part, ...Object.values(part)]
            : []
        for (const each of parts) walk(each, `${place}.${name}`, schema instanceof z.ZodIntersection)
      }
    }
    for (const type of eventTypes) walk(eventData[type], type, false)
    walk(Command, 'Command', false)
    walk(PriceProfile, 'PriceProfile', false)
    expect(dropping).toEqual([])
  })
})
