import type { TextOut } from '../shell.ts'
import { textWidth } from '../textWidth.ts'

/** A terminal with a block of lines at its end that is drawn again in place; what is written comes above it. */
export type Screen = TextOut & {
  /** Draws the lines over those drawn before. Resolves when the terminal has taken them. */
  draw(lines: readonly string[]): Promise<boolean>
  /** What was drawn stays as it is. */
  leave(): void
}

// Each write ends with the cursor shown and lines wrapping again: whatever ends the process leaves a whole terminal.
const begin = '\u001b[?25l\u001b[?7l'
const end = '\u001b[?7h\u001b[?25h'
const toEndOfLine = '\u001b[K'
const toEndOfScreen = '\u001b[J'

export const screen = (out: TextOut): Screen => {
  let drawn: readonly string[] = []
  let drawnAt = { columns: out.columns, rows: out.rows }

  const toFirst = (): string => {
    const rows = drawn.reduce((sum, line) => sum + rowsOf(line, out.columns), 0)
    return rows === 0 ? '\r' : `\r\u001b[${rows}A`
  }
  const block = (lines: readonly string[]): string => lines.map((line) => `${line}${toEndOfLine}\n`).join('')

  return {
    isTerminal: out.isTerminal,
    get columns() {
      return out.columns
    },
    get rows() {
      return out.rows
    },
    async write(text) {
      if (drawn.length === 0) return out.write(text)
      const whole = text.endsWith('\n') ? text : `${text}\n`
      return out.write(`${begin}${toFirst()}${toEndOfScreen}${whole.replace(/^\n/, '')}${block(drawn)}${end}`)
    },
    async draw(lines) {
      const { columns, rows } = out
      const isSame = lines.length === drawn.length && lines.every((line, at) => line === drawn[at])
      if (isSame && drawnAt.columns === columns && drawnAt.rows === rows) return true
      const text = `${begin}${toFirst()}${block(lines)}${toEndOfScreen}${end}`
      drawn = lines
      drawnAt = { columns, rows }
      return out.write(text)
    },
    leave() {
      drawn = []
    },
  }
}

/** A terminal that was made narrower has broken the lines that no longer fit. */
const rowsOf = (line: string, columns: number): number =>
  Math.max(1, Math.ceil(textWidth(line.replace(/\u001b\[\d+m/g, '')) / columns))
