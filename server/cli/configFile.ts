import { z } from 'zod'
import { ProviderConfig } from '../config.ts'
import { readJsonFile } from './jsonFile.ts'
import type { Option } from './option.ts'
import { options } from './options.ts'
import { schemaIssue } from './schemaIssue.ts'
import { unknownName, UsageError } from './usageError.ts'

/** What a configuration file says: texts for options by key, and what only a file can say. */
export type ConfigFile = {
  readonly path: string
  readonly texts: ReadonlyMap<string, readonly string[]>
  readonly providers: Readonly<Record<string, ProviderConfig>>
  readonly callTimeoutSeconds?: number | undefined
}

const optionsInFile: readonly Option<unknown>[] = Object.values(options).filter((option) => option !== options.config)

const Fields = z.record(z.string(), z.unknown())

/** What no option can say. */
const BesideOptions = z.strictObject({
  providers: z.record(z.string(), ProviderConfig).default({}),
  callTimeoutSeconds: z.number().positive().optional(),
})
const besideOptions = Object.keys(BesideOptions.shape)

/** Every field is checked, also those of other commands. Raises `UsageError` or `InvalidInputError`. */
export const readConfigFile = async (path: string): Promise<ConfigFile> => {
  const fields = Fields.safeParse(await readJsonFile(path))
  if (!fields.success) throw new UsageError('invalid_config', `${path}: it must be one JSON object`, { path })
  const entries = Object.entries(fields.data)
  const beside = BesideOptions.safeParse(Object.fromEntries(entries.filter(([name]) => besideOptions.includes(name))))
  if (!beside.success) throw schemaIssue(path, beside.error, Object.keys(ProviderConfig.shape))
  const texts = new Map<string, readonly string[]>()
  for (const [name, value] of entries) {
    if (besideOptions.includes(name)) continue
    const option = optionsInFile.find((each) => each.key === name || plainName(each) === name)
    if (option === undefined) throw unknownName('field', name, knownFields, path)
    const given = textsOf(option, value)
    if (given === null || texts.has(option.key)) throw badField(path, name, option)
    option.read(given, placeInFile(name, path))
    texts.set(option.key, given)
  }
  return { path, texts, ...beside.data }
}

export const placeInFile = (field: string, path: string): string => `${JSON.stringify(field)} in ${path}`

const knownFields = [...optionsInFile.map((option) => option.key), ...besideOptions]

/** An option may also be written as on the command line (`max-calls`), but where two commands share its name. */
const plainName = ({ key, name }: Option<unknown>): string | null =>
  key.toLowerCase() === name.replaceAll('-', '') ? name : null

/** The value as the texts a command line would have given, or null where it has no such shape. */
const textsOf = (option: Option<unknown>, value: unknown): readonly string[] | null => {
  if (option.argument === null) return typeof value === 'boolean' ? [String(value)] : null
  if (typeof value === 'string' || typeof value === 'number') return [String(value)]
  if (!option.repeated || typeof value !== 'object' || value === null) return null
  const parts: unknown[] = Array.isArray(value) ? value : Object.entries(value).map(([name, part]) => `${name}=${typeof part === 'string' ? part : JSON.stringify(part)}`)
  const texts = parts.filter((part) => typeof part === 'string')
  return texts.length === parts.length ? texts : null
}

const badField = (path: string, name: string, option: Option<unknown>): UsageError => {
  const shape = option.argument === null ? 'true or false' : option.repeated ? 'a list of texts' : 'a text or a number'
  return new UsageError('invalid_config', `${placeInFile(name, path)} must be ${shape}, and stand there once`, {
    path,
    field: name,
  })
}
