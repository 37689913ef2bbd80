import { z } from 'zod'
import { bearerProtocol, liveClosing, liveProtocol } from '../../client/liveClosing.ts'
import { caughtUpFrameSchema, errorFrameSchema, eventFrameSchema } from '../../client/schemas/liveFrameSchema.ts'
import { liveQuerySchema } from './liveQuery.ts'

type Json = Readonly<Record<string, unknown>>

const frames = { event: eventFrameSchema, caughtUp: caughtUpFrameSchema, error: errorFrameSchema }
const names = Object.keys(frames)

/** The live events as an AsyncAPI 3 document, made of the schemas that check them. */
export const asyncApi = (host: string): Json => ({
  asyncapi: '3.0.0',
  info: { title: 'Knovaryn live events', version: '1', description },
  defaultContentType: 'application/json',
  servers: {
    sockets: { host, protocol: 'ws', description: '`wss` behind a proxy that speaks TLS.', security: [{ $ref: '#/components/securitySchemes/token' }] },
    streams: { host, protocol: 'http', description: '`https` behind a proxy that speaks TLS.', security: [{ $ref: '#/components/securitySchemes/token' }] },
  },
  channels: {
    live: channel('/v1/events/live', 'sockets', {
      ws: { method: 'GET', query: querySchema(), headers: protocolHeader, bindingVersion: '0.1.0' },
    }),
    stream: channel('/v1/events/stream', 'streams', {}),
  },
  operations: { tellLive: told('live', {}), tellStream: told('stream', { http: { method: 'GET', query: querySchema(), bindingVersion: '0.3.0' } }) },
  components: { ...described(), securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
})

const description = [
  'Every event of the query behind `after`, exactly once and in log order.',
  'Whoever connects again with the last position it was given misses nothing and gets nothing twice.',
  `A socket is closed with ${Object.entries(liveClosing).map(([why, code]) => `${code} (${why})`).join(', ')}, after an error frame that says why.`,
  `Give the token as \`Authorization: Bearer …\`, or offer the subprotocols \`${liveProtocol}, ${bearerProtocol}<token>\`.`,
  'A stream gives each frame as the data of an event named by its kind, with the position as its id: give the last one back as `Last-Event-ID`.',
].join(' ')

const protocolHeader = {
  type: 'object',
  properties: { 'Sec-WebSocket-Protocol': { type: 'string', description: `\`${liveProtocol}\`, and the token behind \`${bearerProtocol}\`` } },
}

const querySchema = (): unknown => plain(z.toJSONSchema(liveQuerySchema, { target: 'draft-7', io: 'input', reused: 'inline' }))

const channel = (address: string, server: string, bindings: Json): Json => ({
  address,
  servers: [{ $ref: `#/servers/${server}` }],
  messages: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/messages/${name}` }])),
  bindings,
})

const told = (channelName: string, bindings: Json): Json => ({
  action: 'send',
  channel: { $ref: `#/channels/${channelName}` },
  messages: names.map((name) => ({ $ref: `#/channels/${channelName}/messages/${name}` })),
  bindings,
})

/** Messages, and every schema that they are made of. */
const described = (): Json => {
  const { definitions = {} } = z.toJSONSchema(z.object(frames), { target: 'draft-7' })
  const messages = Object.entries(frames).map(([name, schema]) => {
    const { id, description: summary } = schema.meta() ?? {}
    return [name, { name, contentType: 'application/json', summary, payload: { $ref: `#/definitions/${id}` } }]
  })
  return { messages: plain(Object.fromEntries(messages)), schemas: plain(definitions) }
}

/** As plain JSON, whose references lead to where a description has its schemas. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll('"#/definitions/', '"#/components/schemas/'))
