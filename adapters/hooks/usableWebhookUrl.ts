import { InvalidInputError } from '../../domain/errors.ts'

/** Raises `InvalidInputError`, which does not repeat the URL: it may hold a token. */
export const usableWebhookUrl = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new InvalidInputError('the webhook must be an http:// or https:// address')
  }
  if (url.username !== '' || url.password !== '') {
    throw new InvalidInputError('the address of the webhook must not hold a user or password')
  }
  return url
}
