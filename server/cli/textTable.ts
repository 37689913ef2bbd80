import { plainText } from './plainText.ts'
import { textWidth } from './textWidth.ts'

export type Column<Row> = {
  readonly heading: string
  readonly align?: 'right'
  /** Where there is no room for all columns, those with the lowest number go first; without one a column stays. */
  readonly spare?: number
  text(row: Row): string
}

type Laid<Row> = { readonly column: Column<Row>; readonly texts: readonly string[]; readonly width: number }

const gap = 2

/**
 * Rows under headings, in columns as wide as their widest text. With a width, columns that are empty and then those
 * that can be spared are left out until the rest fits.
 */
export const textTable = <Row>(columns: readonly Column<Row>[], rows: readonly Row[], widthMax = Infinity): string => {
  const all = columns.map((column): Laid<Row> => {
    const texts = [column.heading, ...rows.map((row) => plainText(column.text(row)))]
    return { column, texts, width: texts.reduce((widest, text) => Math.max(widest, textWidth(text)), 0) }
  })
  const shown = fitted(all, widthMax)
  return [columns.map(({ heading }) => heading), ...rows]
    .map((_, at) => `${shown.map((laid) => padded(laid, at)).join(' '.repeat(gap)).trimEnd()}\n`)
    .join('')
}

const fitted = <Row>(all: readonly Laid<Row>[], widthMax: number): readonly Laid<Row>[] => {
  const isWide = (laid: readonly Laid<Row>[]): boolean => laid.reduce((sum, { width }) => sum + width + gap, -gap) > widthMax
  if (!isWide(all)) return all
  let shown = all.filter(({ texts: [, ...texts] }) => texts.some((text) => text !== ''))
  const spare = shown
    .filter(({ column }) => column.spare !== undefined)
    .toSorted((one, other) => (one.column.spare ?? 0) - (other.column.spare ?? 0))
  for (const next of spare) if (isWide(shown)) shown = shown.filter((each) => each !== next)
  return shown
}

const padded = <Row>({ column, texts, width }: Laid<Row>, at: number): string => {
  const text = texts[at] ?? ''
  const space = ' '.repeat(width - textWidth(text))
  return column.align === 'right' ? space + text : text + space
}
