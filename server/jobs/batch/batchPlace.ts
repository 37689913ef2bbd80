import { InvalidInputError } from '../../../domain/errors.ts'
import { preview } from '../../../domain/strictJson.ts'

/** Where a line stands: the file's name as it was given, and the line's number from 1. */
export type Place = { readonly file: string; readonly line: number }

export const named = ({ file, line }: Place): string => `${file}:${line}`

/** Says what is wrong with a line, and where. `path` is where in the line, as in `$.messages[0].role`. */
export const wrongLine = (
  place: Place,
  problem: string,
  details: Readonly<Record<string, unknown>> & { readonly path?: string } = {},
): InvalidInputError =>
  // A line may hold names of megabytes, and a message is for people.
  new InvalidInputError(`${named(place)}: ${preview(problem, 1_000)}`, {
    ...details,
    ...place,
    path: preview(details.path ?? '$', 500),
  })
