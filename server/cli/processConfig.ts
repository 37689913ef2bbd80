import { Config, type ProviderConfig } from '../config.ts'
import { schemaIssue } from './schemaIssue.ts'
import type { ConfigFile } from './configFile.ts'
import { options } from './options.ts'
import { webAddress } from './optionValue.ts'
import { publicProviders } from './publicProviders.ts'
import type { Settings } from './settings.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Where this process finds its store and its providers: options, environment and configuration file together. */
export const processConfig = (settings: Settings, env: Env, file: ConfigFile | null): Config => {
  const { given } = settings
  const parsed = Config.safeParse(
    withoutAbsent({
      store: given(options.store),
      artifacts: given(options.artifacts),
      data: given(options.data),
      jobs: given(options.jobs),
      onEnd: given(options.onEnd),
      webhook: given(options.webhook),
      callTimeoutSeconds: file?.callTimeoutSeconds,
      providers: providersOf(settings, env, file),
    }),
  )
  if (parsed.success) return parsed.data
  throw schemaIssue(file?.path ?? 'configuration', parsed.error, Object.keys(Config.shape))
}

const providersOf = (settings: Settings, env: Env, file: ConfigFile | null): Record<string, ProviderConfig> => {
  const providers: Record<string, ProviderConfig> = { ...file?.providers }
  for (const [name, { keyEnv, baseUrlEnv }] of publicProviders) {
    const baseUrl = env[baseUrlEnv] ?? ''
    providers[name] = { apiKeyEnv: keyEnv, ...providers[name], ...(baseUrl === '' ? {} : { baseUrl }) }
  }
  for (const [name, entry] of Object.entries(providers)) {
    const plain = entry.baseUrl === undefined ? null : webAddress.read(entry.baseUrl)
    // One that breaks the rule is refused by whoever uses it: another tool's variable must not stop every command.
    if (plain !== null) providers[name] = { ...entry, baseUrl: plain }
  }
  const name = settings.given(options.provider)
  const baseUrl = settings.given(options.baseUrl)
  if (name !== undefined && baseUrl !== undefined) providers[name] = { ...providers[name], baseUrl }
  return providers
}

const withoutAbsent = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
