import { z } from 'zod'
import { readUsd, type Usd } from '../../domain/money.ts'
import { readStrictJson } from '../../domain/strictJson.ts'

/** How the text of an option is read. `read` answers null for what breaks the rule. */
export type ValueRule<Value> = {
  /** Ends the sentence "--option must be …". */
  readonly rule: string
  read(text: string): Value | null
  /** The text may hold a secret: it is not repeated in errors. */
  readonly unshown?: true
}

/** Not empty, and at most so many characters. */
export const anyText = (what: string, lengthMax = 4_096): ValueRule<string> => ({
  rule: lengthMax === 4_096 ? what : `${what} of at most ${lengthMax} characters`,
  read: (text) => (text.trim() === '' || text.length > lengthMax ? null : text),
})

export const wholeNumber = (min: number, max = Number.MAX_SAFE_INTEGER): ValueRule<number> => ({
  rule: max === Number.MAX_SAFE_INTEGER ? `a whole number from ${min}` : `a whole number from ${min} to ${max}`,
  read: (text) => {
    const value = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    return Number.isSafeInteger(value) && value >= min && value <= max ? value : null
  },
})

/** Fractions allowed. */
export const seconds = (max: number): ValueRule<number> => ({
  rule: `a number of seconds above 0 and at most ${max}`,
  read: (text) => {
    const value = /^\d{1,12}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN
    return value >= 0.001 && value <= max ? value : null
  },
})

export const dollars: ValueRule<Usd> = {
  rule: 'an amount of US dollars from 0 with at most nine decimals, such as 1.50',
  read: readUsd,
}

export const oneOf = <const Name extends string>(names: readonly Name[]): ValueRule<Name> => ({
  rule: `one of ${names.join(', ')}`,
  read: (text) => names.find((name) => name === text) ?? null,
})

const Instant = z.iso.datetime({ offset: true })

/** Read as ISO 8601 UTC. A time without an offset means another instant on every machine, so it is refused. */
export const instant: ValueRule<string> = {
  rule: 'an instant with its offset, such as 2026-01-31T08:00:00Z or 2026-01-31T09:00:00+01:00',
  read: (text) => (Instant.safeParse(text).success ? new Date(text).toISOString() : null),
}

/** Read without a slash at its end, so that two spellings of one address are one. */
export const webAddress: ValueRule<string> = {
  rule: 'an http:// or https:// address without a user, password, query or fragment',
  unshown: true,
  read: (text) => {
    const url = URL.canParse(text) ? new URL(text) : null
    if (url === null || !/^https?:$/.test(url.protocol)) return null
    if (url.username !== '' || url.password !== '' || /[?#]/.test(text)) return null
    return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
  },
}

/** With a query, where it has one: the address may be all that a receiver knows its sender by. */
export const webhookAddress: ValueRule<string> = {
  rule: 'an http:// or https:// address without a user or password',
  unshown: true,
  read: (text) => {
    const url = URL.canParse(text) ? new URL(text) : null
    return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' ? url.href : null
  },
}

/** `name=value`. */
export const label: ValueRule<readonly [name: string, value: string]> = {
  rule: 'name=value, each of at most 200 characters',
  read: (text) => {
    const [, name = '', value = ''] = /^([^=]{1,200})=(.{0,200})$/su.exec(text) ?? []
    return name === '' || name === '__proto__' ? null : [name, value]
  },
}

/** `name=value`, the value as JSON where it is JSON and as it stands where it is not. */
export const namedValue: ValueRule<readonly [name: string, value: unknown]> = {
  rule: 'name=value, such as chunkTokens=300',
  read: (text) => {
    const [, name = '', value = ''] = /^([^=]{1,200})=(.*)$/su.exec(text) ?? []
    return name === '' || name === '__proto__' ? null : [name, jsonOrText(value)]
  },
}

const jsonOrText = (text: string): unknown => {
  try {
    return readStrictJson(text)
  } catch {
    return text
  }
}

export const yesOrNo: ValueRule<boolean> = {
  rule: 'true or false (or 1 or 0)',
  read: (text) => ({ true: true, '1': true, false: false, '0': false })[text] ?? null,
}
