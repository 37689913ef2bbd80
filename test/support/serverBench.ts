import { onTestFinished } from 'vitest'
import type { Role } from '../../server/access.ts'
import { openWorkplace } from '../../server/compose.ts'
import { Config } from '../../server/config.ts'
import type { JobDefinition } from '../../server/defineJob.ts'
import type { Engine, Workplace } from '../../server/engine.ts'
import { serverOf } from '../../server/serve.ts'

export type ServerBench = {
  readonly url: string
  readonly engine: Engine
  readonly workplace: Workplace
  /** What the server itself is to blame for. */
  readonly faults: readonly string[]
  /** A new token: from the first one on, every request needs one. */
  token(role: Role, projects?: readonly string[] | null): Promise<string>
  close(): Promise<void>
}

/** The whole server on 127.0.0.1, over a memory store, closed when the test is over. */
export const serverBench = async (
  surroundings: {
    /** Job types beside the shipped ones. */
    readonly definitions?: readonly JobDefinition[]
    /** What the offline provider takes for an answer. */
    readonly latencyMs?: number
    readonly providers?: Readonly<Record<string, object>>
    readonly requestsPerMinute?: number
    readonly store?: string
  } = {},
): Promise<ServerBench> => {
  const { definitions = [], latencyMs = 0, providers = {}, requestsPerMinute, store = 'memory:' } = surroundings
  const config = Config.parse({ store, providers: { offline: { latencyMs }, ...providers } })
  const workplace = await openWorkplace(config, { env: {}, log: () => {}, definitions })
  const faults: string[] = []
  const server = await serverOf(workplace, {
    ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }),
    fault: (what, error) => void faults.push(`${what}: ${error instanceof Error ? error.message : String(error)}`),
  })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  let closed: Promise<void> | null = null
  const close = (): Promise<void> => (closed ??= server.close(0).then(() => workplace.close()))
  onTestFinished(close)
  let tokens = 0
  return {
    url,
    engine: workplace.engine,
    workplace,
    faults,
    async token(role, projects = null) {
      tokens += 1
      const { token } = await workplace.access.create({ name: `${role}-${tokens}`, role, projects, expiresAt: null })
      return token
    },
    close,
  }
}
