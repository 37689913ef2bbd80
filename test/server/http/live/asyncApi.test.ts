import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { liveBench } from '../../../support/liveBench.ts'
import { openSocket } from '../../../support/liveFollower.ts'
import { eventExamples } from '../../../support/controls.ts'

/** What AsyncAPI 3.0 asks of a document, in the parts that this one has. */
const ref = z.strictObject({ $ref: z.string().startsWith('#/') })
const schema = z.record(z.string(), z.unknown())
const message = z.strictObject({ name: z.string(), contentType: z.literal('application/json'), summary: z.string(), payload: ref })
const wsBinding = z.strictObject({ method: z.enum(['GET', 'POST']), query: schema, headers: schema, bindingVersion: z.literal('0.1.0') })
const httpBinding = z.strictObject({ method: z.enum(['GET', 'POST']), query: schema, bindingVersion: z.literal('0.3.0') })
const asyncApi = z.strictObject({
  asyncapi: z.literal('3.0.0'),
  info: z.strictObject({ title: z.string().min(1), version: z.string().min(1), description: z.string() }),
  defaultContentType: z.string(),
  servers: z.record(
    z.string().regex(/^[\w-]+$/),
    z.strictObject({ host: z.string().min(1), protocol: z.enum(['ws', 'http']), description: z.string(), security: z.array(ref) }),
  ),
  channels: z.record(
    z.string().regex(/^[\w-]+$/),
    z.strictObject({
      address: z.string().startsWith('/'),
      servers: z.array(ref).min(1),
      messages: z.record(z.string(), ref),
      bindings: z.strictObject({ ws: wsBinding.optional() }),
    }),
  ),
  operations: z.record(
    z.string().regex(/^[\w-]+$/),
    z.strictObject({
      action: z.enum(['send', 'receive']),
      channel: ref,
      messages: z.array(ref).min(1),
      bindings: z.strictObject({ http: httpBinding.optional() }),
    }),
  ),
  components: z.strictObject({
    messages: z.record(z.string(), message),
    schemas: z.record(z.string().regex(/^[\w-]+$/), schema),
    securitySchemes: z.record(z.string(), z.strictObject({ type: z.literal('http'), scheme: z.literal('bearer') })),
  }),
})

const described = async () => {
  const bench = await liveBench()
  const answer = await fetch(`${bench.url}/asyncapi.json`)
  const document = (await answer.json()) as z.infer<typeof asyncApi>
  return { ...bench, answer, document }
}

const at = (document: unknown, pointer: string): unknown =>
  pointer.slice(2).split('/').reduce((value, step) => (value as Record<string, unknown> | undefined)?.[step.replaceAll('~1', '/').replaceAll('~0', '~')], document)

const refsOf = (value: unknown): readonly string[] => [...JSON.stringify(value).matchAll(/"\$ref":"([^"]*)"/g)].map(([, target]) => target!)

/** The schema of a frame, with what it refers to, as a check of values. */
const frameCheck = (document: z.infer<typeof asyncApi>) => {
  const { schemas } = document.components
  const local = JSON.parse(JSON.stringify(schemas).replaceAll('#/components/schemas/', '#/definitions/')) as Record<string, object>
  const frames = ['EventFrame', 'CaughtUpFrame', 'ErrorFrame'].map((name) => ({ $ref: `#/definitions/${name}` }))
  return z.fromJSONSchema({ $schema: 'http://json-schema.org/draft-07/schema#', anyOf: frames, definitions: local } as never)
}

describe('the description of live events', () => {
  test('is an AsyncAPI 3 document that everybody may read', async () => {
    const { answer, document, token, url } = await described()
    expect(answer.headers.get('content-type')).toContain('application/json')
    expect(asyncApi.safeParse(document).error?.issues ?? []).toEqual([])
    expect(Object.values(document.servers).map(({ host }) => host)).toEqual([new URL(url).host, new URL(url).host])
    await token()
    expect((await fetch(`${url}/asyncapi.json`)).status).toBe(200)
  })

  test('refers to nothing that is not in it', async () => {
    const { document } = await described()
    const refs = refsOf(document)
    expect(refs.length).toBeGreaterThan(40)
    expect(refs.filter((target) => at(document, target) === undefined)).toEqual([])
  })

  test('has operations that tell only the messages of their channel', async () => {
    const { document } = await described()
    for (const { channel, messages } of Object.values(document.operations)) {
      for (const { $ref } of messages) expect($ref.startsWith(`${channel.$ref}/messages/`)).toBe(true)
    }
  })

  test('names every type of event, and every part of the query', async () => {
    const { document } = await described()
    const types = Object.keys(eventExamples)
    expect(types.filter((type) => document.components.schemas[type] === undefined)).toEqual([])
    const { query } = document.channels['live']!.bindings.ws!
    expect(Object.keys(query['properties'] as object)).toEqual(['after', 'jobId', 'projectId', 'types'])
  })

  test('fits every frame that a socket is told, and no other', async () => {
    const { document, url, job } = await described()
    const { log } = await job('one')
    await log(2)
    const check = frameCheck(document)
    const [told, refused] = [openSocket(url, '?after=start'), openSocket(url, '?after=x')]
    await told.caughtUp()
    await refused.closed
    const frames = [...told.frames, ...refused.frames]
    expect(new Set(frames.map(({ kind }) => kind))).toEqual(new Set(['event', 'caught_up', 'error']))
    for (const frame of frames) expect(check.safeParse(frame).error?.issues ?? []).toEqual([])
    const [event] = frames
    for (const other of [{ ...event, more: 1 }, { ...event, position: 1 }, { ...event, event: {} }, { kind: 'newer' }]) {
      expect(check.safeParse(other).success).toBe(false)
    }
  })
})
