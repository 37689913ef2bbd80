import { preview } from '../../domain/strictJson.ts'
import { UsageError } from './usageError.ts'
import { type ValueRule, yesOrNo } from './optionValue.ts'

/**
 * One option, declared once: its name on the command line, its variable and its key in the configuration file all
 * follow from the declaration.
 */
export type Option<Value> = {
  /** On the command line, without its dashes. */
  readonly name: string
  /** `<usd>`; null for a flag. */
  readonly argument: string | null
  readonly repeated: boolean
  readonly about: string
  /** Heading in the help. */
  readonly group: string
  readonly variable: string
  /** Key in the configuration file. */
  readonly key: string
  /** `place` is what an error calls the option: where the texts were found. Raises `UsageError`. */
  read(texts: readonly string[], place: string): Value
}

type Declaration = {
  readonly name: string
  readonly argument?: string
  readonly about: string
  readonly group: string
  /** Spelled out at the end of the variable's name. */
  readonly unit?: string
  /** Where another command means something else by the same name: goes in front of the variable and the key. */
  readonly scope?: string
}

export const single = <Value>(declaration: Declaration, rule: ValueRule<Value>): Option<Value> => ({
  ...named(declaration),
  repeated: false,
  read: (texts, place) => readOne(rule, texts.at(-1) ?? '', place),
})

/** May be given several times; in the variable the parts stand between commas. */
export const repeated = <Value>(declaration: Declaration, rule: ValueRule<Value>): Option<readonly Value[]> => ({
  ...named(declaration),
  repeated: true,
  read: (texts, place) => texts.map((text) => readOne(rule, text, place)),
})

export const flag = (declaration: Declaration): Option<boolean> => ({
  ...named(declaration),
  argument: null,
  repeated: false,
  read: (texts, place) => readOne(yesOrNo, texts.at(-1) ?? '', place),
})

const named = ({ name, argument = '<text>', about, group, unit, scope }: Declaration) => {
  const scoped = scope === undefined ? name : `${scope}-${name}`
  const spelled = unit === undefined ? scoped : `${scoped}-${unit}`
  return {
    name,
    argument,
    about,
    group,
    variable: `KNOVARYN_${spelled.toUpperCase().replaceAll('-', '_')}`,
    key: scoped.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
  }
}

const readOne = <Value>(rule: ValueRule<Value>, text: string, place: string): Value => {
  const value = rule.read(text)
  if (value !== null) return value
  const shown = rule.unshown === true ? {} : { value: preview(text, 100) }
  const not = shown.value === undefined ? '' : `, not ${JSON.stringify(shown.value)}`
  throw new UsageError('invalid_option', `${place} must be ${rule.rule}${not}`, { option: place, rule: rule.rule, ...shown })
}
