import { InvalidInputError } from '../../domain/errors.ts'

/** A key without the white space around it. Raised here and not by `fetch`, whose error would show the key. */
export const usableKey = (text: string): string => {
  const key = text.trim()
  if (!/^[\x21-\x7e]*$/.test(key)) {
    throw new InvalidInputError('the API key holds a space or a character that cannot be sent in a header')
  }
  return key
}
