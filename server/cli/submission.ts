import type { RaisedLimits } from '../../domain/job/events.ts'
import type { Submission } from '../engine.ts'
import type { Call } from './call.ts'
import { givenLimits } from './givenLimits.ts'
import { readJsonFile } from './jsonFile.ts'
import { options } from './options.ts'
import { present } from './present.ts'
import { readPriceProfile } from './priceProfileFile.ts'
import { readDocuments } from './readDocuments.ts'
import { readSubmittedFiles } from './readFiles.ts'
import { UsageError } from './usageError.ts'

/** What the command line asks a job to be. Files are read here and handed over as bytes: no worker opens a path. */
export const submissionOf = async (call: Call): Promise<Submission & { readonly limits: RaisedLimits }> => {
  const { given } = call
  const priceProfiles = []
  for (const path of given(options.priceProfile) ?? []) priceProfiles.push(await readPriceProfile(path))
  return {
    projectId: given(options.project) ?? 'default',
    type: typeOf(call),
    ...(await inputOf(call)),
    provider: providerOf(call),
    model: given(options.model) ?? null,
    parameters: parametersOf(call),
    limits: givenLimits(call),
    priceProfiles,
    labels: labelsOf(given(options.label) ?? []),
    ...present('target', given(options.target)),
    ...present('idempotencyKey', given(options.key)),
    ...present('allowUnpriced', given(options.allowUnpriced)),
    ...present('maxAttempts', given(options.maxAttempts)),
    ...present('callAttempts', given(options.callAttempts)),
    ...present('maxLostLeases', given(options.maxLostLeases)),
    ...present('onUnknown', given(options.onUnknown)),
    ...present('concurrency', given(options.concurrency)),
    ...present('priority', given(options.priority)),
    ...present('startAfter', given(options.startAfter)),
  }
}

const typeOf = ({ given }: Call): string => given(options.type) ?? 'batch'

/** The files named, or the value of a type that takes none. Folders are for types that take documents. */
const inputOf = async (call: Call): Promise<Pick<Submission, 'files' | 'input'>> => {
  const path = call.given(options.input)
  if (path !== undefined && call.args.length > 0) {
    throw new UsageError('invalid_option', 'a job takes files or --input, not both', { option: '--input' })
  }
  if (path !== undefined) return { files: [], input: await readJsonFile(path) }
  if (call.args.length === 0) {
    throw new UsageError('missing_argument', "missing required argument 'paths': name files or folders, or a value with --input")
  }
  return { files: await (typeOf(call) === 'batch' ? readSubmittedFiles(call.args) : readDocuments(call.args)) }
}

const parametersOf = ({ given }: Call): Readonly<Record<string, unknown>> => {
  const parameters: Record<string, unknown> = {
    ...present('maxOutputTokens', given(options.maxOutputTokens)),
    ...present('license', given(options.license)),
    ...present('privacy', given(options.privacy)),
    ...present('seed', given(options.seed)),
  }
  for (const [name, value] of given(options.set) ?? []) {
    if (Object.hasOwn(parameters, name)) {
      throw new UsageError('invalid_option', `parameter ${JSON.stringify(name)} is given twice: give it once`, { parameter: name })
    }
    parameters[name] = value
  }
  return parameters
}

/** Types of a user's own may need no provider; the two that ship do. */
const asking: ReadonlySet<string> = new Set(['batch', 'dataset'])

const providerOf = (call: Call): { name: string; baseUrl: string | null } | null => {
  const { given, config, server } = call
  const name = given(options.provider)
  const type = typeOf(call)
  // Where a provider is, and who may ask it, is for the server to know.
  if (name !== undefined && server !== null) return { name, baseUrl: null }
  if (name !== undefined) {
    const address = config.providers[name]?.baseUrl
    const place = `the base URL configured for ${name}`
    return { name, baseUrl: address === undefined ? null : options.baseUrl.read([address], place) }
  }
  if (given(options.baseUrl) !== undefined) {
    throw new UsageError('missing_option', '--base-url is the address of a provider: give its name with --provider')
  }
  if (!asking.has(type)) return null
  throw new UsageError(
    'missing_option',
    `a ${type} job needs --provider: offline (needs no key), openai, anthropic, or one of your configuration`,
    { option: '--provider' },
  )
}

const labelsOf = (pairs: readonly (readonly [name: string, value: string])[]): Record<string, string> => {
  const labels: Record<string, string> = {}
  for (const [name, value] of pairs) {
    if (Object.hasOwn(labels, name) && labels[name] !== value) {
      throw new UsageError('invalid_option', `label ${JSON.stringify(name)} is given two values: give it one`, { label: name })
    }
    labels[name] = value
  }
  return labels
}
