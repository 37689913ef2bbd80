import { plainText } from './plainText.ts'
import { textWidth } from './textWidth.ts'

export type Column<Row> = {
  readonly heading: string
  readonly align?: 'right'
  text(row: Row): string
}

/** Rows under headings, in columns as wide as their widest text. */
export const textTable = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string => {
  const cells = [
    columns.map((column) => column.heading),
    ...rows.map((row) => columns.map((column) => plainText(column.text(row)))),
  ]
  const widths = columns.map((_, at) => Math.max(...cells.map((line) => textWidth(line[at] ?? ''))))
  return cells
    .map((line) => {
      const padded = line.map((text, at) => {
        const space = ' '.repeat((widths[at] ?? 0) - textWidth(text))
        return columns[at]?.align === 'right' ? space + text : text + space
      })
      return `${padded.join('  ').trimEnd()}\n`
    })
    .join('')
}
