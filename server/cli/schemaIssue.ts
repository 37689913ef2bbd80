import type { z } from 'zod'
import { InvalidInputError } from '../../domain/errors.ts'
import { nearest } from '../../domain/nearest.ts'

/**
 * What a schema refused about a file, as an error that names the file, the place and the rule. `known` are the
 * names an unknown field may have been meant to be.
 */
export const schemaIssue = (file: string, error: z.ZodError, known: readonly string[]): InvalidInputError => {
  // A misspelt field is also a missing one: its own name says more.
  const issue = error.issues.find(({ code }) => code === 'unrecognized_keys') ?? error.issues[0]
  const place = issue?.path.map(String).join('.') ?? ''
  if (issue?.code === 'unrecognized_keys') {
    const [name = ''] = issue.keys
    const meant = nearest(name, known)
    const path = place === '' ? name : `${place}.${name}`
    return new InvalidInputError(
      `${file}: unknown field ${JSON.stringify(path)}${meant === null ? '' : `: did you mean "${meant}"?`}`,
      { file, path, nearest: meant },
    )
  }
  const at = place === '' ? '' : ` ${JSON.stringify(place)}`
  return new InvalidInputError(`${file}:${at} ${sentenceOf(issue?.message ?? 'is not valid')}`, { file, path: place })
}

/** The schema library's own words, as the end of a sentence about the field. */
const sentenceOf = (message: string): string =>
  message
    .replace(/^Invalid input: expected \w+, received undefined$/, 'is missing')
    .replace(/^Invalid input: expected (\w+), received (\w+)$/, 'must be of type $1, not $2')
    .replace(/^Invalid/, 'is not valid: invalid')
