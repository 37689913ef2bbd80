import { z } from 'zod'
import type { CallRequest } from '../../../domain/ports/provider.ts'
import { parametersBy } from '../parametersBy.ts'
import { callParameters, type BatchLine } from './batchLine.ts'
import { wrongLine } from './batchPlace.ts'

const readParameters = parametersBy('batch', z.strictObject(callParameters))

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
