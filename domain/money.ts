import { z } from 'zod'

/** Integer nano-USD (1e-9 USD). */
export type NanoUsd = bigint

/** US dollars as a decimal string without sign, exponent or trailing zeros, to the nano-USD: `"0.96"`. */
export const Usd = z
  .string()
  .regex(/^(0|[1-9]\d{0,14})(\.\d{0,8}[1-9])?$/, 'must be US dollars as a plain decimal string such as "0.96"')
  .brand<'Usd'>()
export type Usd = z.infer<typeof Usd>

const nanoPerUsd = 1_000_000_000n

export const nanoUsd = (usd: Usd): NanoUsd => {
  const [whole = '0', fraction = ''] = usd.split('.')
  return BigInt(whole) * nanoPerUsd + BigInt(fraction.padEnd(9, '0'))
}

/** Raises a `RangeError` for a negative amount: nobody is paid for calling a model. */
export const usd = (nano: NanoUsd): Usd => {
  if (nano < 0n) throw new RangeError(`an amount cannot be negative: ${nano} nano-USD`)
  const fraction = (nano % nanoPerUsd).toString().padStart(9, '0').replace(/0+$/, '')
  const whole = (nano / nanoPerUsd).toString()
  return Usd.parse(fraction === '' ? whole : `${whole}.${fraction}`)
}

export const zeroUsd: Usd = Usd.parse('0')
export const addUsd = (left: Usd, right: Usd): Usd => usd(nanoUsd(left) + nanoUsd(right))
export const subtractUsd = (left: Usd, right: Usd): Usd => usd(nanoUsd(left) - nanoUsd(right))

/**
 * Reads an amount as people write it (`1`, `1.00`, `.5`): at most nine decimals, no sign, no exponent.
 * Answers null when it is anything else.
 */
export const readUsd = (text: string): Usd | null => {
  const match = /^(\d{1,15})?(?:\.(\d{0,9}))?$/.exec(text)
  if (match === null || !/\d/.test(text)) return null
  const [, whole = '0', fraction = ''] = match
  return usd(BigInt(whole) * nanoPerUsd + BigInt(fraction.padEnd(9, '0')))
}
