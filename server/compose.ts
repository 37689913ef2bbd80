import { filesystemArtifactStore } from '../adapters/filesystem/filesystemArtifactStore.ts'
import { memoryArtifactStore } from '../adapters/memory/memoryArtifactStore.ts'
import { memoryEventStore } from '../adapters/memory/memoryEventStore.ts'
import { memoryViewStore } from '../adapters/memory/memoryViewStore.ts'
import { offlinePriceProfile } from '../adapters/price-profiles/offline.ts'
import { sqliteStore } from '../adapters/sqlite/sqliteStore.ts'
import { sha256 } from '../adapters/system/sha256.ts'
import { systemClock } from '../adapters/system/systemClock.ts'
import { systemRandom } from '../adapters/system/systemRandom.ts'
import { InvalidInputError } from '../domain/errors.ts'
import type { ArtifactStore } from '../domain/ports/artifactStore.ts'
import type { Clock } from '../domain/ports/clock.ts'
import type { CompletionHook } from '../domain/ports/completionHook.ts'
import type { EventStore } from '../domain/ports/eventStore.ts'
import type { Presence } from '../domain/ports/presence.ts'
import type { Provider } from '../domain/ports/provider.ts'
import type { SnapshotStore, ViewStore } from '../domain/ports/viewStore.ts'
import type { Config, ProviderConfig } from './config.ts'
import type { JobDefinition } from './defineJob.ts'
import type { About, Workplace } from './engine.ts'
import { type LogLine, loggedTelemetry, type Telemetry } from './telemetry.ts'
import { workplace } from './workplace.ts'

type Stores = {
  readonly events: EventStore
  readonly views: ViewStore & SnapshotStore
  readonly artifacts: ArtifactStore
  readonly presence: Presence | null
  about?(): About
  close(): Promise<void>
}

export type Surroundings = {
  readonly env: Readonly<Record<string, string | undefined>>
  log(line: LogLine): void
  /** Job types beside the shipped ones. */
  readonly definitions?: readonly JobDefinition[]
}

/** Puts a workplace together: this is what the program is made of. Raises `InvalidInputError`, `StoreUnavailable`. */
export const openWorkplace = async (config: Config, around: Surroundings): Promise<Workplace> => {
  const clock = systemClock()
  const telemetry = loggedTelemetry(around.log, clock.monotonic)
  const stores = await openStores(config, clock)
  const [{ batchJob }, { datasetJob }, own] = await Promise.all([
    import('./jobs/batch/batchJob.ts'),
    import('./jobs/dataset/datasetJob.ts'),
    ownDefinitions(config),
  ])
  const providerAt = await providers(config, around.env, clock)
  return workplace({
    ...stores,
    clock,
    random: systemRandom(),
    sha256,
    telemetry,
    definitions: [batchJob, datasetJob, ...own, ...(around.definitions ?? [])],
    provider: providerAt,
    offeredProviders: ['offline', ...Object.keys(config.providers)].filter((name) => providerAt(name, null) !== null),
    ownPrices: (provider) => (provider === offlinePriceProfile.provider ? [offlinePriceProfile] : []),
    providerLimits: (name) => config.providers[name] ?? {},
    callTimeoutMs: config.callTimeoutSeconds * 1_000,
    hooks: onceAsked(() => completionHooks(config, around.env, { clock, telemetry })),
  })
}

const onceAsked = <Value>(make: () => Promise<Value>): (() => Promise<Value>) => {
  let made: Promise<Value> | null = null
  return () => (made ??= make())
}

/** Only here is the secret of webhooks read: it stands in no configuration, and is in no command's environment. */
const webhookSecretVariable = 'KNOVARYN_WEBHOOK_SECRET'

const completionHooks = async (
  config: Config,
  env: Surroundings['env'],
  { clock, telemetry }: { readonly clock: Clock; readonly telemetry: Pick<Telemetry, 'notice'> },
): Promise<readonly CompletionHook[]> => {
  const hooks: CompletionHook[] = []
  if (config.onEnd !== undefined) {
    const { commandHook } = await import('../adapters/hooks/commandHook.ts')
    hooks.push(commandHook({ command: config.onEnd, env: withoutSecrets(config, env), clock }))
  }
  if (config.webhook !== undefined) {
    const { webhookHook } = await import('../adapters/hooks/webhookHook.ts')
    const secret = env[webhookSecretVariable] ?? ''
    hooks.push(webhookHook({ url: config.webhook, secret: secret === '' ? null : secret, clock }))
    if (secret === '') telemetry.notice(`the webhook is not signed: no secret is given by ${webhookSecretVariable}`)
  }
  return hooks
}

/** The variables less those that hold keys of providers or the secret of webhooks. */
const withoutSecrets = (config: Config, env: Surroundings['env']): Surroundings['env'] => {
  const keys = Object.values(config.providers).map(({ apiKeyEnv }) => apiKeyEnv)
  const secrets = new Set([webhookSecretVariable, 'OPENAI_API_KEY', 'ANTHROPIC_API_KEY', ...keys])
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secrets.has(name)))
}

const openStores = async (config: Config, clock: Clock): Promise<Stores> => {
  const [kind, place] = splitAtColon(config.store)
  if (kind === 'memory') {
    const views = memoryViewStore()
    const events = memoryEventStore()
    const close = async (): Promise<void> => void (await Promise.all([events.close(), views.close()]))
    return { events, views, artifacts: memoryArtifactStore(sha256), presence: null, close }
  }
  if (kind !== 'sqlite' || place === '') {
    throw new InvalidInputError(`store "${config.store}" is neither sqlite:DIR nor memory: (name one such as sqlite:./.knovaryn)`, { store: config.store })
  }
  const artifactsFolder = config.artifacts === undefined ? null : folderOf(config.artifacts)
  const store = await sqliteStore(place, clock, config.data === undefined ? {} : { viewsFolder: config.data })
  try {
    const folder = artifactsFolder ?? store.artifactsFolder
    const about = (): About => ({
      store: `sqlite:${store.folder}`,
      sqliteVersion: store.sqliteVersion(),
      artifacts: folder,
      views: store.viewsFolder,
    })
    return { ...store, artifacts: await filesystemArtifactStore(folder, clock), about }
  } catch (error) {
    await store.close()
    throw error
  }
}

const folderOf = (artifacts: string): string => {
  const [kind, place] = splitAtColon(artifacts)
  if (kind === 'dir' && place !== '') return place
  throw new InvalidInputError(`artifacts "${artifacts}" is not dir:DIR (name a folder, such as dir:./artifacts)`, { artifacts })
}

const splitAtColon = (text: string): [string, string] => {
  const colon = text.indexOf(':')
  return colon === -1 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)]
}

const ownDefinitions = async (config: Config): Promise<readonly JobDefinition[]> => {
  if (config.jobs === undefined) return []
  const { loadDefinitions } = await import('./loadDefinitions.ts')
  return loadDefinitions(config.jobs)
}

/** Of the providers that need no configuration. */
const publicBaseUrls: ReadonlyMap<string, string> = new Map([
  ['openai', 'https://api.openai.com/v1'],
  ['anthropic', 'https://api.anthropic.com/v1'],
])

/**
 * Providers by name and base URL. A key is sent to the base URL it is configured with and to no other: a job of
 * another one is called without.
 */
const providers = async (
  config: Config,
  env: Surroundings['env'],
  clock: Clock,
): Promise<(name: string, baseUrl: string | null) => Provider | null> => {
  const [{ offlineProvider }, { openaiProvider }, { anthropicProvider }] = await Promise.all([
    import('../adapters/providers/offline.ts'),
    import('../adapters/providers/openai.ts'),
    import('../adapters/providers/anthropic.ts'),
  ])
  const made = new Map<string, Provider>()
  const make = (name: string, baseUrl: string | null): Provider | null => {
    const entry: ProviderConfig = config.providers[name] ?? {}
    const { latencyMs, replaysForSeconds, unbilled5xx, usageDialect } = entry
    if (name === 'offline' && baseUrl === null && entry.baseUrl === undefined) {
      return offlineProvider({ clock, ...(latencyMs === undefined ? {} : { latencyMs }) })
    }
    const configured = entry.baseUrl ?? publicBaseUrls.get(name) ?? null
    const url = baseUrl ?? configured
    if (url === null) return null
    const key = entry.apiKeyEnv === undefined ? undefined : env[entry.apiKeyEnv]
    const protocol = entry.protocol ?? (name === 'anthropic' ? 'anthropic' : 'openai')
    return (protocol === 'anthropic' ? anthropicProvider : openaiProvider)({
      name,
      baseUrl: url,
      apiKey: url === configured ? (key ?? null) : null,
      clock,
      ...(replaysForSeconds === undefined ? {} : { replaysForSeconds }),
      ...(unbilled5xx === undefined ? {} : { unbilled5xx }),
      ...(usageDialect === undefined ? {} : { usageDialect }),
    })
  }
  return (name, baseUrl) => {
    const place = JSON.stringify([name, baseUrl])
    const provider = made.get(place) ?? make(name, baseUrl)
    if (provider !== null) made.set(place, provider)
    return provider
  }
}
