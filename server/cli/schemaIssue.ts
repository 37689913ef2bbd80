import type { z } from 'zod'
import { InvalidInputError } from '../../domain/errors.ts'
import { nearest } from '../../domain/nearest.ts'

/**
 * What a schema refused about a file, as an error that names the file, the place and the rule. `known` are the
 * names an unknown field may have been meant to be.
 */
export const schemaIssue = (file: string, error: z.ZodError, known: readonly string[]): InvalidInputError => {
  const [issue] = error.issues
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
  return new InvalidInputError(`${file}:${at} ${issue?.message ?? 'is not valid'}`, { file, path: place })
}
