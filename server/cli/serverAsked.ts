import type { Command } from './call.ts'
import { options } from './options.ts'
import type { Settings } from './settings.ts'
import { UsageError } from './usageError.ts'

/** A server to ask, and who asks it. */
export type Server = { readonly url: string; readonly token: string | null }

/** Commands that do the same over HTTP. */
const isServed = ([first, second]: readonly string[]): boolean =>
  ['job', 'projections', 'submit', 'estimate'].includes(first ?? '') || (first === 'log' && second === 'verify')

/** What to do instead of the others. */
const instead: Readonly<Record<string, string>> = {
  run: 'leave the job to the workers there with `knovaryn submit --wait --server URL`',
  worker: 'start the worker where the store is, with --store; `knovaryn server --workers N` works jobs too',
  server: 'name what it is to serve with --store',
  mcp: 'name the store with --store, or have the agent use /mcp of that server',
  demo: 'it makes a store of its own',
  doctor: 'look at /readyz of that server, or run it where the store is',
}

/** Options that speak of this process, and would have no effect. */
const ofThisProcess = [options.baseUrl, options.jobs, options.onEnd, options.webhook]

const places = [options.store, options.artifacts, options.data]

/**
 * The server that a command is to ask; null where it works on a store here. A store on the command line comes before
 * a server that is named elsewhere. Raises `UsageError` for what cannot be done over HTTP.
 */
export const serverAsked = (
  { words }: Pick<Command, 'words'>,
  { given, typed }: Settings,
  env: Readonly<Record<string, string | undefined>>,
): Server | null => {
  const url = given(options.server)
  if (url === undefined) return null
  const place = places.find((option) => typed(option) !== undefined)
  if (place !== undefined && typed(options.server) === undefined) return null
  if (place !== undefined) throw refused(`--server asks a server, and --${place.name} is about a store here: give one of them`)
  const name = words.join(' ')
  if (!isServed(words)) {
    const hint = instead[name] ?? 'run it where the store is, with --store'
    throw refused(`${name} does not work with --server (KNOVARYN_SERVER): ${hint}`)
  }
  const own = ofThisProcess.find((option) => typed(option) !== undefined)
  if (own !== undefined) throw refused(`--${own.name} is about this process, and --server asks another: it belongs to the configuration there`)
  const token = env['KNOVARYN_TOKEN'] ?? ''
  return { url, token: token === '' ? null : token }
}

const refused = (message: string): UsageError => new UsageError('invalid_option', message, { option: '--server' })
