import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { InvalidInputError } from '../domain/errors.ts'
import { defineJob, type JobDefinition } from './defineJob.ts'

const looksDefined = (value: unknown): value is JobDefinition =>
  typeof value === 'object' && value !== null && 'type' in value && 'version' in value && 'stages' in value && 'input' in value

const Module = z.object({
  default: z.union([z.custom<JobDefinition>(looksDefined), z.array(z.custom<JobDefinition>(looksDefined))]),
})

/** Job definitions of one's own: the module's default export, one or several. Raises `InvalidInputError`. */
export const loadDefinitions = async (path: string): Promise<readonly JobDefinition[]> => {
  const loaded: unknown = await import(pathToFileURL(resolve(path)).href).catch((error: unknown) => {
    throw new InvalidInputError(`jobs module ${path} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`, {
      path,
    })
  })
  const parsed = Module.safeParse(loaded)
  if (!parsed.success) {
    throw new InvalidInputError(`jobs module ${path} must export a job definition, or an array of them, as its default`, {
      path,
    })
  }
  const definitions = parsed.data.default
  return (Array.isArray(definitions) ? definitions : [definitions]).map(defineJob)
}
