import { InvalidInputError } from '../../../../domain/errors.ts'

/** The error for a document that breaks a rule: `says` goes on from its name, as in `is empty`. */
export const wrongDocument = (name: string, says: string, details: Readonly<Record<string, unknown>> = {}): InvalidInputError =>
  new InvalidInputError(`${name} ${says}`, { document: name, ...details })

/** A library's complaint, short enough for a sentence. */
export const complaint = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/\s+/g, ' ').trim().slice(0, 200)
