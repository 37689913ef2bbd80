import { InvalidInputError } from '../../domain/errors.ts'

/**
 * A base URL such as `example`, without a slash at its end. Raises `InvalidInputError` for anything
 * a key should not be sent to, or that hides a secret of its own: the URL is shown in errors and stored in jobs.
 */
export const usableBaseUrl = (text: string, example: string): string => {
  const url = URL.canParse(text) ? new URL(text) : null
  const refuse = (why: string): never => {
    throw new InvalidInputError(`the base URL "${shown(text)}" ${why}`, { baseUrl: shown(text) })
  }
  if (url === null) return refuse(`is not a URL: give one such as ${example}`)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refuse('must start with https:// or http://')
  if (url.username !== '' || url.password !== '') return refuse('must not hold a user or password: give the key apart')
  if (/[?#]/.test(text)) return refuse('must have neither a query nor a fragment')
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

/** What may be shown of a URL that was refused: nothing before an `@`, nothing behind a `?` or `#`. */
const shown = (text: string): string =>
  text
    .replace(/[?#].*$/s, '')
    .replace(/^.*@/s, '')
    .slice(0, 200)
