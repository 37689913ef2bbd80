import { setImmediate } from 'node:timers/promises'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import type { ProtocolStreams } from '../engine.ts'
import { type McpParts, mcpServer } from './mcpServer.ts'

/**
 * Serves one client until it has closed its end, is gone, or the signal aborts. What it has asked by then is still
 * answered.
 */
export const serveStdio = async (parts: McpParts, { input, output }: ProtocolStreams, signal: AbortSignal): Promise<void> => {
  const { mcp, idle } = mcpServer(parts)
  const ended = new Promise<void>((resolve) => {
    const end = (): void => resolve()
    if (signal.aborted) end()
    signal.addEventListener('abort', end, { once: true })
    Object.assign(mcp.server, { onclose: end, onerror: (error: Error) => parts.fault('MCP client', error) })
    for (const event of ['end', 'close', 'error']) input.once(event, end)
    for (const event of ['close', 'error']) output.on(event, end)
  })
  await mcp.connect(new StdioServerTransport(input, output))
  await ended
  // What has come in begins in a turn of its own, and so is an answer sent.
  await setImmediate()
  await idle()
  await setImmediate()
  await mcp.close()
  await new Promise<void>((resolve) => output.end(resolve))
}
