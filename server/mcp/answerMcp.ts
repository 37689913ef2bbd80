import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { type McpParts, mcpServer } from './mcpServer.ts'

/**
 * Answers one POST of the streamable HTTP transport, whose body has been read. There are no sessions: each request stands
 * for itself, and for whoever sent it.
 */
export const answerMcp = async (parts: McpParts, request: Request, body: unknown): Promise<Response> => {
  const { mcp } = mcpServer(parts)
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await mcp.connect(transport)
  try {
    return await transport.handleRequest(request, { parsedBody: body })
  } finally {
    await mcp.close()
  }
}
