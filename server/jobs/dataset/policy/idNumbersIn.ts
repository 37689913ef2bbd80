import validator from 'validator'
import type { Found } from './personalData.ts'

/** International bank account numbers and numbers of persons, each only where its checksum holds. */
export const idNumbersIn = (text: string): readonly Found[] => [
  ...ibansIn(text),
  ...nationals.flatMap((national) => numbersOf(text, national)),
]

const iban = /(?<![\p{L}\p{N}_])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?(?![\p{L}\p{N}_])/gu

const ibansIn = (text: string): readonly Found[] =>
  Array.from(text.matchAll(iban)).flatMap(({ 0: written, index }) => {
    // Words in capitals may follow, and look like a part of it.
    for (let end = written.length; end > 0; end = written.lastIndexOf(' ', end - 1)) {
      if (validator.isIBAN(written.slice(0, end))) return [{ start: index, end: index + end }]
    }
    return []
  })

type National = {
  readonly shape: RegExp
  readonly isValid: (number: string) => boolean
  /** What people call it. Null where shape and checksum leave no doubt; else it has to stand near. */
  readonly word: RegExp | null
}

const card = (locale: validator.IdentityCardLocale) => (number: string) => validator.isIdentityCard(number, locale)
const tax = (locale: string) => (number: string) => validator.isTaxID(number, locale)
/** A date of birth and a number, by Luhn. The library's own check depends on today's date. */
const isSwedish = (number: string): boolean => {
  const digits = number.replace(/\D/g, '').slice(-10)
  return /^\d\d(?:0[1-9]|1[0-2])(?:[06][1-9]|[1278]\d|[39][01])/.test(digits) && validator.isLuhnNumber(digits)
}
const isCanadian = (number: string): boolean => tax('en-CA')(number.replace(/\D/g, ''))

/** Digits alone, not within a longer number or a word. */
const alone = (digits: string): RegExp => new RegExp(String.raw`(?<![\p{L}\p{N}_+]|\d[.,:/-])(?:${digits})(?![\p{L}\p{N}_]|[.,:/-]\d)`, 'gu')

const nationals: readonly National[] = [
  // Born before 2026: the library would compare a later date with today's.
  { shape: alone(String.raw`[1-9]\d{5}(?:19\d\d|20[01]\d|202[0-5])\d{7}[\dXx]`), isValid: card('zh-CN'), word: null },
  { shape: alone(String.raw`[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]`), isValid: tax('it-IT'), word: null },
  { shape: alone(String.raw`\d{11}`), isValid: card('PL'), word: /\bpesel\b/ },
  { shape: alone(String.raw`[\dX-Z]\d{7}[A-Z]`), isValid: card('ES'), word: /\b(?:dni|nie|nif)\b/ },
  { shape: alone(String.raw`\d{6}[-+A]\d{3}[\dA-Y]`), isValid: card('FI'), word: /\bhetu\b|henkilötunnus/ },
  { shape: alone(String.raw`\d{11}`), isValid: card('NO'), word: /f(?:ø|o|oe)dselsnummer|personnummer/ },
  { shape: alone(String.raw`(?:\d\d)?\d{6}[-+]?\d{4}`), isValid: isSwedish, word: /personnummer/ },
  { shape: alone(String.raw`[1-9]\d{3} ?\d{4} ?\d{4}`), isValid: card('IN'), word: /\ba+dhaa?r\b|\buidai\b/ },
  { shape: alone(String.raw`\d{9}`), isValid: card('he-IL'), word: /teudat zehut|תעודת זהות|ת"ז|ת\.ז/ },
  { shape: alone(String.raw`[A-Z]\d{9}`), isValid: card('zh-TW'), word: /身分證|身份證/ },
  { shape: alone(String.raw`[1-8]\d{12}`), isValid: card('TH'), word: /บัตรประชาชน/ },
  { shape: alone(String.raw`[1-9]\d{10}`), isValid: tax('de-DE'), word: /steuer-?id|steueridentifikationsnummer|\bidnr\b/ },
  { shape: alone(String.raw`\d{9}`), isValid: tax('nl-NL'), word: /\bbsn\b|burgerservicenummer/ },
  { shape: alone(String.raw`\d{3}\.\d{3}\.\d{3}-\d{2}|\d{11}`), isValid: tax('pt-BR'), word: /\bcpf\b/ },
  { shape: alone(String.raw`\d{9}`), isValid: tax('pt-PT'), word: /\bnif\b|contribuinte/ },
  { shape: alone(String.raw`\d{13}`), isValid: tax('ro-RO'), word: /\bcnp\b/ },
  { shape: alone(String.raw`\d{11}`), isValid: tax('fr-BE'), word: /rijksregisternummer|registre national/ },
  { shape: alone(String.raw`\d{3}[- ]?\d{3}[- ]?\d{3}`), isValid: isCanadian, word: /\bsin\b|social insurance/ },
]

/** Said of numbers of any country. */
const anyWord = new RegExp(
  '\\b(?:national id|identity card|identity number|identification number|personal id|personal number|id card|id number' +
    '|tax id|tax number|taxpayer|social (?:security|insurance))\\b' +
    '|ausweisnummer|personalausweis|numéro fiscal|codice fiscale|身份证',
)

const charactersBefore = 40
const charactersAfter = 20

const numbersOf = (text: string, { shape, isValid, word }: National): readonly Found[] =>
  Array.from(text.matchAll(shape)).flatMap(({ 0: number, index }) => {
    const end = index + number.length
    if (!isValid(number)) return []
    const near = `${text.slice(Math.max(0, index - charactersBefore), index)} ${text.slice(end, end + charactersAfter)}`.toLowerCase()
    return word === null || word.test(near) || anyWord.test(near) ? [{ start: index, end }] : []
  })
