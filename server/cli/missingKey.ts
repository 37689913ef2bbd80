import type { Submission } from '../engine.ts'
import type { Call } from './call.ts'
import { publicProviders } from './publicProviders.ts'
import { UsageError } from './usageError.ts'

/**
 * Raises `UsageError` where this process would ask a public provider itself without a key. A server of one's own may
 * need none.
 */
export const refuseMissingKey = ({ provider }: Submission, { config, shell }: Call): void => {
  const known = publicProviders.get(provider?.name ?? '')
  if (!provider || known === undefined || provider.baseUrl !== null) return
  const variable = config.providers[provider.name]?.apiKeyEnv ?? known.keyEnv
  if ((shell.env[variable] ?? '') !== '') return
  throw new UsageError(
    'missing_key',
    `provider ${provider.name} needs a key: set ${variable}, or name another server with --base-url`,
    { variable },
  )
}
