import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js'
import type { Engine } from '../engine.ts'
import { lookTools } from './lookTools.ts'
import { steerTools } from './steerTools.ts'
import { submitTools } from './submitTools.ts'
import type { Tool } from './tool.ts'
import { type Fault, toolError } from './toolError.ts'

export type McpParts = {
  /** As whoever calls may use it. */
  readonly engine: Engine
  /** Told of what is ours to mend: who calls is told no more of it than that it happened. */
  readonly fault: Fault
}

const tools: ReadonlyMap<string, Tool> = new Map([...lookTools, ...submitTools, ...steerTools].map((tool) => [tool.name, tool]))

const instructions =
  'Durable jobs of paid model calls. Estimate, submit with limits and an idempotencyKey, then poll knovaryn_get_job until the job has ' +
  'ended or paused. A tool that did not do what was asked answers { code, message, next } as text: next says what to do.'

/** The tools over an engine, for one connection. `idle` resolves once every call that was made has its answer. */
export const mcpServer = ({ engine, fault }: McpParts): { readonly mcp: McpServer; idle(): Promise<void> } => {
  const mcp = new McpServer({ name: 'knovaryn', version: '1' }, { capabilities: { tools: {} }, instructions })
  const open = new Set<Promise<unknown>>()
  // Not by `registerTool`, which answers arguments that break a rule in the words of its schema library.
  mcp.server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...tools.values()].map((tool) => tool.listed()) }))
  mcp.server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    const tool = tools.get(params.name)
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `there is no tool ${JSON.stringify(params.name)}`)
    const answer = tool
      .call(engine, params.arguments ?? {})
      .catch((error: unknown) => toolError(tool.name, error, fault))
      .finally(() => open.delete(answer))
    open.add(answer)
    return answer
  })
  return {
    mcp,
    async idle() {
      while (open.size > 0) await Promise.all(open)
    },
  }
}
