import { EngineError } from '../../domain/errors.ts'
import { nearest } from '../../domain/nearest.ts'

/** A command line, a variable or a configuration file that breaks a rule. Raised before anything is opened. */
export class UsageError extends EngineError {}

/** `unknown <what> "<name>"`, with the name that was most likely meant. */
export const unknownName = (
  what: string,
  name: string,
  known: readonly string[],
  place: string | null = null,
): UsageError => {
  const meant = nearest(name, known)
  const where = place === null ? '' : ` in ${place}`
  return new UsageError(
    `unknown_${what.replaceAll(' ', '_')}`,
    `unknown ${what} ${JSON.stringify(name)}${where}${meant === null ? '' : `: did you mean "${meant}"?`}`,
    { name, nearest: meant },
  )
}
