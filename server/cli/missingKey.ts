import type { Submission } from '../engine.ts'
import type { Call } from './call.ts'
import { UsageError } from './usageError.ts'

/**
 * Raises `UsageError` where this process would ask OpenAI itself without a key. A server of one's own may need none.
 */
export const refuseMissingKey = ({ provider }: Submission, { config, shell }: Call): void => {
  if (provider?.name !== 'openai' || provider.baseUrl !== null) return
  const variable = config.providers['openai']?.apiKeyEnv ?? 'OPENAI_API_KEY'
  if ((shell.env[variable] ?? '') !== '') return
  throw new UsageError('missing_key', `provider openai needs a key: set ${variable}, or name another server with --base-url`, {
    variable,
  })
}
