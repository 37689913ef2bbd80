import validator from 'validator'
import type { Found } from './personalData.ts'

/** Prefixes and lengths that issuers give out. A visa of 13 digits is no longer: most such rows are article numbers. */
const issuers: readonly RegExp[] = [
  /^4(?:\d{15}|\d{18})$/, // Visa
  /^(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}$/, // Mastercard
  /^3[47]\d{13}$/, // American Express
  /^3(?:0[0-5]|[68]\d)\d{11}$/, // Diners Club
  /^6(?:011|4[4-9]\d|5\d\d)\d{12}$/, // Discover
  /^35(?:2[89]|[3-8]\d)\d{12}$/, // JCB
  /^62\d{14,17}$/, // UnionPay
  /^(?:5018|5020|5038|6304|6759|676[1-3])\d{12}$/, // Maestro
]

/** In one piece, in fours, or as the cards of 14 and 15 digits are printed. Digits of a longer number are none. */
const candidate =
  /(?<![\p{L}\p{N}_]|\d[.,])(?:\d{14,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|\d{4}([ -])\d{6}\2\d{4,5})(?![\p{L}\p{N}_]|[.,]\d)/gu

/** Numbers of payment cards that pass their checksum (Luhn), with the prefix and length of a known issuer. */
export const cardsIn = (text: string): readonly Found[] =>
  Array.from(text.matchAll(candidate)).flatMap(({ 0: written, index }) => {
    // What follows a number of 16 digits in fours may be another number.
    const number = [written, written.slice(0, 19)].find((each) => isCard(each.replace(/[ -]/g, '')))
    return number === undefined ? [] : [{ start: index, end: index + number.length }]
  })

const isCard = (digits: string): boolean =>
  issuers.some((issuer) => issuer.test(digits)) && validator.isLuhnNumber(digits)
