import type { z } from 'zod'
import { InvalidInputError } from '../../domain/errors.ts'
import { nearest } from '../../domain/nearest.ts'

/**
 * Reads the parameters of a job type by its schema. Raises `InvalidInputError` for one that breaks its rule, and for
 * one that is not known, with the nearest that is.
 */
export const parametersBy =
  <Shape extends z.ZodRawShape>(type: string, schema: z.ZodObject<Shape>) =>
  (given: Readonly<Record<string, unknown>>): z.infer<z.ZodObject<Shape>> => {
    const parsed = schema.safeParse(given)
    if (parsed.success) return parsed.data
    const [issue] = parsed.error.issues
    if (issue?.code !== 'unrecognized_keys') {
      const name = issue?.path.join('.') ?? ''
      throw new InvalidInputError(`parameter ${name} ${issue?.message ?? 'is not valid'}`, { path: `parameters.${name}` })
    }
    const [name = ''] = issue.keys
    const meant = nearest(name, Object.keys(schema.shape))
    throw new InvalidInputError(
      `a ${type} has no parameter ${JSON.stringify(name)}${meant === null ? '' : `: did you mean "${meant}"?`}`,
      { path: `parameters.${name}` },
    )
  }
