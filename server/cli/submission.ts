import type { Submission } from '../engine.ts'
import type { Call } from './call.ts'
import { givenLimits } from './givenLimits.ts'
import { options } from './options.ts'
import { present } from './present.ts'
import { readPriceProfile } from './priceProfileFile.ts'
import { readSubmittedFiles } from './readFiles.ts'
import { UsageError } from './usageError.ts'

/** What the command line asks a job to be. Files are read here and handed over as bytes: no worker opens a path. */
export const submissionOf = async (call: Call): Promise<Submission> => {
  const { given } = call
  const maxOutputTokens = given(options.maxOutputTokens)
  const priceProfiles = []
  for (const path of given(options.priceProfile) ?? []) priceProfiles.push(await readPriceProfile(path))
  return {
    projectId: given(options.project) ?? 'default',
    type: given(options.type) ?? 'batch',
    files: await readSubmittedFiles(call.args),
    provider: providerOf(call),
    model: given(options.model) ?? null,
    parameters: maxOutputTokens === undefined ? {} : { maxOutputTokens },
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

/** Types of a user's own may need no provider; the two that ship do. */
const asking: ReadonlySet<string> = new Set(['batch', 'dataset'])

const providerOf = ({ given, config }: Call): Submission['provider'] => {
  const name = given(options.provider)
  const type = given(options.type) ?? 'batch'
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
    `a ${type} job needs --provider: offline (needs no key), openai, or one of your configuration`,
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
