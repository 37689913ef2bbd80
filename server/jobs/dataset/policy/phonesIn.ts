import { findPhoneNumbersInText } from 'libphonenumber-js/min'
import type { Found } from './personalData.ts'

/** A plus, a digit that begins a country code, and enough digits for a number, with what may stand between them. */
const candidate = /(?<![\p{L}\p{N}_.,+-])\+\(?[1-9](?:[ ()./\u00a0\u2010-\u2015-]{0,2}\d){6,14}(?!\d)/gu

/** A number with a decimal point. `+1.8005550123` is how registries write a telephone number. */
const decimal = /^.(?:\d{4,}\.\d+|\d+\.\d{1,6})$/

/**
 * Telephone numbers in international form that exist by the numbering plan of their country. Without a plus and a
 * country code a number has no check, and any row of digits could be one.
 */
export const phonesIn = (text: string): readonly Found[] =>
  Array.from(text.matchAll(candidate)).flatMap(({ 0: written, index }) => {
    if (decimal.test(written)) return []
    const [phone] = findPhoneNumbersInText(written)
    return phone?.startsAt === 0 ? [{ start: index, end: index + phone.endsAt }] : []
  })
