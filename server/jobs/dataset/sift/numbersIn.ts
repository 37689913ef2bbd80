/** A number as it is written, its value in plain digits, and the numbers it may be a row of (`12.05.2020`, `12 100`). */
export type WrittenNumber = { readonly text: string; readonly value: string | null; readonly row: readonly string[] }

/** The numbers in a text, in order. Signs and units are no part of them. */
export const numbersIn = (text: string): readonly WrittenNumber[] =>
  [...inAsciiDigits(text.normalize('NFKC')).matchAll(written)].map(({ 0: number }) => ({ text: number, ...read(number) }))

/** The values of all numbers in a text, in plain digits. */
export const valuesIn = (text: string): ReadonlySet<string> =>
  new Set(numbersIn(text).flatMap(({ value, row }) => (value === null ? row : [value, ...row])))

/** Whether a number, or each of the row it may be, is among these. */
export const isAmong = ({ value, row }: WrittenNumber, known: ReadonlySet<string>): boolean =>
  (value !== null && known.has(value)) || (row.length > 0 && row.every((each) => known.has(each)))

// NFKC makes a common space of those that stand within numbers.
const written = /\d+(?:[.,'’٫٬]\d+| \d{3}(?!\d))*/g

const read = (number: string): Omit<WrittenNumber, 'text'> => {
  const groups = number.split(/\D/)
  const marks = number.replace(/\d/g, '')
  const value = valueOf(groups, marks)
  const isRow = marks.includes(' ') || value === null
  return { value, row: isRow ? groups.map(plain) : [] }
}

/** Null for what is no one number. What may be thousands is: both sides of a comparison are read alike. */
const valueOf = (groups: readonly string[], marks: string): string | null => {
  if (isGrouped(groups, marks)) return plain(groups.join(''))
  const [before, last] = [groups.slice(0, -1), marks.at(-1)]
  const isDecimal = last !== undefined && decimalMarks.has(last) && !marks.slice(0, -1).includes(last)
  return isDecimal && isGrouped(before, marks.slice(0, -1)) ? plain(`${before.join('')}.${groups.at(-1) ?? ''}`) : null
}

const decimalMarks = new Set(['.', ',', '٫'])

/** One group, or thousands set apart by the same mark each time. */
const isGrouped = ([first = '', ...others]: readonly string[], marks: string): boolean => {
  const isThousands = first.length <= 3 && !first.startsWith('0') && new Set(marks).size === 1
  return others.length === 0 || (isThousands && others.every((group) => group.length === 3))
}

/** Without what does not change its value: `05` is `5`, and `1.50` is `1.5`. */
const plain = (number: string): string => {
  const [whole = '', decimals = ''] = number.split('.')
  const significant = decimals.replace(/0+$/, '')
  const units = whole.replace(/^0+(?=\d)/, '')
  return significant === '' ? units : `${units}.${significant}`
}

/** Digits of every script stand in tens, from its zero. */
const inAsciiDigits = (text: string): string =>
  text.replace(/(?![0-9])\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0) ?? 0
    let zero = code
    while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1
    return String(code - zero)
  })
