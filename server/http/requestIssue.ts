import { z } from 'zod'
import { InvalidInputError } from '../../domain/errors.ts'
import { nearest } from '../../domain/nearest.ts'
import { preview } from '../../domain/strictJson.ts'

/** What a schema refused about a part of a request, as an error that names the part, the field and the rule. */
export const requestIssue = (part: string, schema: z.ZodType, error: z.ZodError): InvalidInputError => {
  // A misspelt field is also a missing one: its own name says more.
  const issue = error.issues.find(({ code }) => code === 'unrecognized_keys') ?? error.issues[0]
  const path = (issue?.path ?? []).map(String)
  if (issue?.code === 'unrecognized_keys') {
    const [name = ''] = issue.keys
    const known = namesAt(schema, path)
    const meant = nearest(name, known)
    const field = preview([...path, name].join('.'), 200)
    const hint = meant === null ? (known.length === 0 ? '' : ` (known: ${known.join(', ')})`) : `: did you mean "${meant}"?`
    return new InvalidInputError(`${part}: unknown field ${JSON.stringify(field)}${hint}`, { in: part, field, nearest: meant })
  }
  const field = preview(path.join('.'), 200)
  const at = field === '' ? '' : ` ${JSON.stringify(field)}`
  return new InvalidInputError(`${part}:${at} ${sentenceOf(issue?.message ?? 'is not valid')}`, { in: part, field })
}

/** The schema library's own words, as the end of a sentence about the field. */
const sentenceOf = (message: string): string =>
  message
    .replace(/^Invalid input: expected \w+, received undefined$/, 'is missing')
    .replace(/^Invalid input: expected (\w+), received (\w+)$/, 'must be of type $1, not $2')
    .replace(/^Invalid option: expected one of (.*)$/, 'must be one of $1')
    .replace(/^Invalid (string|input): must/, 'must')
    .replace(/^(Invalid|Too|Unrecognized)/, (word) => `is not valid: ${word.toLowerCase()}`)

/** The fields that an object at this place may have. */
const namesAt = (schema: z.ZodType, path: readonly string[]): readonly string[] => {
  let places = choices(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', metadata: z.registry() }))
  for (const step of path) places = places.flatMap((place) => choices(childOf(place, step)))
  return [...new Set(places.flatMap(({ properties }) => Object.keys(properties ?? {})))]
}

/** The schema and, where it is one of several or several at once, those. */
const choices = (schema: z.core.JSONSchema._JSONSchema | undefined): readonly z.core.JSONSchema.JSONSchema[] => {
  if (schema === undefined || typeof schema === 'boolean') return []
  const { anyOf = [], oneOf = [], allOf = [] } = schema
  return [schema, ...[...anyOf, ...oneOf, ...allOf].flatMap(choices)]
}

const childOf = ({ properties = {}, items, additionalProperties }: z.core.JSONSchema.JSONSchema, step: string) => {
  if (Object.hasOwn(properties, step)) return properties[step]
  return Array.isArray(items) ? undefined : (items ?? additionalProperties)
}
