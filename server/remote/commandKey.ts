import { InvalidInputError } from '../../domain/errors.ts'
import type { Asker } from '../engine.ts'

/** What makes the repeat of a command known to the server. Raises `InvalidInputError` for one that no header can hold. */
export const commandKey = ({ commandId = crypto.randomUUID() }: Asker): string => {
  if (/^[\x20-\x7e]{1,200}$/.test(commandId)) return commandId
  throw new InvalidInputError('commandId must be printable ASCII of at most 200 characters', { field: 'commandId' })
}
