import { placeInFile, type ConfigFile } from './configFile.ts'
import type { Option } from './option.ts'
import { UsageError } from './usageError.ts'

/** Where the texts of an option stand, and what an error calls that place. */
type Found = { readonly texts: readonly string[]; readonly place: string }

/** The options of one command as they were given: command line before variable before configuration file. */
export type Settings = {
  /** Undefined where the option was given nowhere. Raises `UsageError` for a text that breaks the option's rule. */
  given<Value>(option: Option<Value>): Value | undefined
  /** The same, from the command line alone. */
  typed<Value>(option: Option<Value>): Value | undefined
}

export type CommandLine = {
  /** What commander found for the option: a text, a list of texts, or true. */
  valueOf(option: Option<unknown>): unknown
}

export const settingsOf = (sources: {
  readonly commandLine: CommandLine
  readonly env: Readonly<Record<string, string | undefined>>
  readonly file: ConfigFile | null
}): Settings => {
  const onCommandLine = (option: Option<unknown>): Found | null => {
    const value = sources.commandLine.valueOf(option)
    const texts = Array.isArray(value) ? value.map(String) : typeof value === 'string' ? [value] : value === true ? ['true'] : null
    if (texts === null) return null
    refuseSwallowedOption(option, texts)
    return { texts, place: `--${option.name}` }
  }
  const inEnvironment = (option: Option<unknown>): Found | null => {
    const text = sources.env[option.variable] ?? ''
    if (text === '') return null
    return { texts: option.repeated ? text.split(',').map((part) => part.trim()) : [text], place: option.variable }
  }
  const inFile = (option: Option<unknown>): Found | null => {
    const texts = sources.file?.texts.get(option.key)
    return texts === undefined ? null : { texts, place: placeInFile(option.key, sources.file?.path ?? '') }
  }
  const read = <Value>(option: Option<Value>, found: Found | null): Value | undefined =>
    found === null ? undefined : option.read(found.texts, found.place)
  return {
    given: (option) => read(option, onCommandLine(option) ?? inEnvironment(option) ?? inFile(option)),
    typed: (option) => read(option, onCommandLine(option)),
  }
}

/** `--model --json` would else run a model named "--json". */
const refuseSwallowedOption = (option: Option<unknown>, texts: readonly string[]): void => {
  const swallowed = texts.find((text) => /^--[a-z]/.test(text))
  if (swallowed === undefined) return
  throw new UsageError('invalid_option', `--${option.name} needs a value, but ${swallowed} follows`, {
    option: `--${option.name}`,
  })
}
