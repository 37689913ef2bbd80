import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import type { JsonSchemaType, JsonSchemaValidator, jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation'
import { onTestFinished } from 'vitest'
import type { Engine } from '../../server/engine.ts'
import { mcpServer } from '../../server/mcp/mcpServer.ts'

type Json = Readonly<Record<string, unknown>>

/** What a tool refuses with. */
type Refusal = { readonly code: string; readonly message: string; readonly next: string }

/** A client of the protocol. Its `answer` and `refusal` raise where the tool did the other. */
type Agent = {
  readonly client: Client
  /** What it could not read. */
  readonly errors: readonly Error[]
  /** The structured answer, checked by the schema that the server lists, and its text. */
  answer(tool: string, input?: Json): Promise<{ readonly value: Json & { readonly job: Json & { readonly jobId: string } }; readonly text: string }>
  refusal(tool: string, input?: Json): Promise<Refusal>
}

const validator = new AjvJsonSchemaValidator()
const known = new Map<string, JsonSchemaValidator<unknown>>()

/** Every client compiles the same schemas, and that takes longer than all else. */
const eachSchemaOnce: jsonSchemaValidator = {
  getValidator<Value>(schema: JsonSchemaType) {
    const text = JSON.stringify(schema)
    const made = known.get(text) ?? validator.getValidator<unknown>(schema)
    known.set(text, made)
    return made as JsonSchemaValidator<Value>
  },
}

export const agentOn = async (transport: Transport): Promise<Agent> => {
  const client = new Client({ name: 'test', version: '1' }, { jsonSchemaValidator: eachSchemaOnce })
  const errors: Error[] = []
  Object.assign(client, { onerror: (error: Error) => void errors.push(error) })
  await client.connect(transport)
  onTestFinished(() => client.close())
  let listed: Promise<unknown> | null = null
  const call = async (name: string, input: Json) => {
    const { isError = false, structuredContent, content } = await client.callTool({ name, arguments: input })
    const [first] = content as readonly { readonly text: string }[]
    return { isError, value: structuredContent, text: first?.text ?? '' }
  }
  return {
    client,
    errors,
    async answer(tool, input = {}) {
      // From then on the client checks what is answered by what is listed.
      await (listed ??= client.listTools())
      const { isError, value, text } = await call(tool, input)
      if (isError === true) throw new Error(`${tool} refused: ${text}`)
      return { value: value as Awaited<ReturnType<Agent['answer']>>['value'], text }
    },
    async refusal(tool, input = {}) {
      const { isError, text } = await call(tool, input)
      if (isError !== true) throw new Error(`${tool} did it: ${text}`)
      return JSON.parse(text) as Refusal
    },
  }
}

/** An agent of a server, with a token or without. */
export const agentOf = (url: string, token: string | null = null): Promise<Agent> => {
  const headers = token === null ? {} : { authorization: `Bearer ${token}` }
  return agentOn(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }))
}

/** An agent of an engine of this process. */
export const agentBeside = async (engine: Engine, faults: string[] = []): Promise<Agent> => {
  const [near, far] = InMemoryTransport.createLinkedPair()
  const { mcp } = mcpServer({ engine, fault: (what, error) => void faults.push(`${what}: ${String(error)}`) })
  await mcp.connect(far)
  return agentOn(near)
}

/** A batch of so many prompts to the offline provider. */
export const batch = (count = 2): Json => ({
  type: 'batch',
  prompts: Array.from({ length: count }, (_, at) => ({ id: `line-${at}`, prompt: `Say something about ${at}.` })),
  provider: 'offline',
  model: 'offline-small',
  limits: { maximumCostUsd: '1.00' },
})
