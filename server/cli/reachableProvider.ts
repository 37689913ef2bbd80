import { nearest } from '../../domain/nearest.ts'
import type { Submission } from '../engine.ts'
import type { Call } from './call.ts'
import { publicProviders } from './publicProviders.ts'
import { UsageError } from './usageError.ts'

/** These have an address of their own. */
const shipped = ['offline', ...publicProviders.keys()]

/** A sentence about a provider that this process has no address for, or null where it has one, or a server is asked. */
export const unreachable = ({ provider = null }: Submission, { config, server }: Call): string | null => {
  if (server !== null || provider === null || shipped.includes(provider.name)) return null
  if ((provider.baseUrl ?? null) !== null || config.providers[provider.name]?.baseUrl !== undefined) return null
  const meant = nearest(provider.name, [...shipped, ...Object.keys(config.providers)])
  return `provider ${JSON.stringify(provider.name)} is not known here${meant === null ? '.' : `: did you mean "${meant}"?`}`
}

/** Raises `UsageError` for work that this process could only wait for. */
export const refuseUnreachableProvider = (submission: Submission, call: Call): void => {
  const why = unreachable(submission, call)
  if (why === null) return
  const { name = '' } = submission.provider ?? {}
  throw new UsageError(
    'unknown_provider',
    `${why} Give its address with --base-url, or in "providers" of a --config file`,
    { provider: name },
  )
}
