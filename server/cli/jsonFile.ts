import { InvalidInputError } from '../../domain/errors.ts'
import { readStrictJson } from '../../domain/strictJson.ts'
import { readText } from './readFiles.ts'

/** A JSON file of settings or prices is small. */
const bytesMax = 4 * 1_048_576

/** The value of a JSON file, by the strict reader. Raises `InvalidInputError` naming the file. */
export const readJsonFile = async (path: string): Promise<unknown> => {
  const text = await readText(path, bytesMax)
  try {
    return readStrictJson(text)
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error
    throw new InvalidInputError(`${path}: ${error.message}`, { ...error.details, path })
  }
}
