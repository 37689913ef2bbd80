import type { Workplace } from './engine.ts'
import { type HttpServer, httpServer, type HttpServerParts } from './http/httpServer.ts'
import { liveRoutes } from './http/live/liveRoutes.ts'
import { mcpRoutes } from './http/mcpRoutes.ts'
import { answerMcp } from './mcp/answerMcp.ts'
import { drainMsDefault } from './work.ts'
import type { ServeOptions } from './workOptions.ts'

type Served = Pick<Workplace, 'engine' | 'engineFor' | 'access' | 'clock' | 'ready'>

/** The server with all its routes, not yet listening. */
export const serverOf = (
  { engine, engineFor, access, clock, ready }: Served,
  options: Pick<HttpServerParts, 'requestsPerMinute' | 'fault'>,
): Promise<HttpServer> => {
  const live = liveRoutes({ engine, engineFor, access, clock, fault: options.fault })
  const mcp = mcpRoutes((caller, request, body) => answerMcp({ engine: caller, fault: options.fault }, request, body))
  return httpServer({ engineFor, access, ready, ...options, routes: [live.routes, mcp] })
}

/** Serves until the signal aborts; then open requests and the workers of this process end within the deadline. */
export const serve = async (
  workplace: Served & Pick<Workplace, 'work'>,
  options: ServeOptions & Pick<HttpServerParts, 'fault'>,
  signal: AbortSignal,
): Promise<void> => {
  const { host, port, workers = 1, requestsPerMinute, drainMs = drainMsDefault, slots, leaseMs, fault } = options
  const server = await serverOf(workplace, { fault, ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }) })
  const stop = new AbortController()
  const stopped = new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve(), { once: true }))
  const forward = (): void => stop.abort()
  if (signal.aborted) forward()
  signal.addEventListener('abort', forward, { once: true })
  try {
    options.onListening(await server.listen({ host, port }))
    const work = { drainMs, ...(slots === undefined ? {} : { slots }), ...(leaseMs === undefined ? {} : { leaseMs }) }
    const working = Array.from({ length: workers }, () => workplace.work(work, stop.signal))
    // A worker that ends by itself has failed: the server stops with it rather than go on without.
    await Promise.all([stopped.then(() => server.close(drainMs)), ...working.map((each) => each.finally(forward))])
  } finally {
    forward()
    signal.removeEventListener('abort', forward)
    await server.close(drainMs)
  }
}
