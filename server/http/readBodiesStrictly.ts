import { InvalidInputError } from '../../domain/errors.ts'
import { readStrictJson } from '../../domain/strictJson.ts'
import type { HttpApp } from './httpApp.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Reads bodies of JSON without changing anything silently: see `readStrictJson`. No other type of body is read. */
export const readBodiesStrictly = (app: HttpApp): void => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (_, body, done) => {
    try {
      done(null, body.length === 0 ? undefined : readStrictJson(textOf(body)))
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)))
    }
  })
}

const textOf = (body: Buffer): string => {
  try {
    return utf8.decode(body)
  } catch {
    throw new InvalidInputError('body: not UTF-8', { in: 'body' })
  }
}
