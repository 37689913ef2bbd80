import { z } from 'zod'
import { InvalidInputError } from '../../../domain/errors.ts'
import { nearest } from '../../../domain/nearest.ts'
import type { CallRequest } from '../../../domain/ports/provider.ts'
import { callParameters, type BatchLine } from './batchLine.ts'
import { wrongLine } from './batchPlace.ts'

const Parameters = z.strictObject(callParameters)

const maxOutputTokensDefault = 1_024

/** What the job says for lines that do not say it themselves. */
export type BatchSettings = {
  readonly model: string | null
  readonly parameters: Readonly<Record<string, unknown>>
}

/**
 * How the lines of a job are asked. One place for the estimate and for the call, so that what is priced is what is
 * sent. Raises `InvalidInputError` for a parameter that is not known, or for a line without a model.
 */
export const requester = (settings: BatchSettings): ((line: BatchLine) => CallRequest) => {
  const defaults = readParameters(settings.parameters)
  return (line) => {
    const model = line.model ?? settings.model
    if (model === null) throw wrongLine(line.place, 'no model: give the line a "model", or the job one for all lines')
    const temperature = line.temperature ?? defaults.temperature
    const seed = line.seed ?? defaults.seed
    return {
      model,
      messages: line.messages,
      maxOutputTokens: line.maxOutputTokens ?? defaults.maxOutputTokens ?? maxOutputTokensDefault,
      ...(temperature === undefined ? {} : { temperature }),
      ...(seed === undefined ? {} : { seed }),
    }
  }
}

const readParameters = (given: Readonly<Record<string, unknown>>): z.infer<typeof Parameters> => {
  const parsed = Parameters.safeParse(given)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  if (issue?.code !== 'unrecognized_keys') {
    const name = issue?.path.join('.') ?? ''
    throw new InvalidInputError(`parameter ${name} ${issue?.message ?? 'is not valid'}`, { path: `parameters.${name}` })
  }
  const [name = ''] = issue.keys
  const meant = nearest(name, Object.keys(Parameters.shape))
  throw new InvalidInputError(
    `a batch has no parameter ${JSON.stringify(name)}${meant === null ? '' : `: did you mean "${meant}"?`}`,
    { path: `parameters.${name}` },
  )
}
