export type Terminal = {
  take(text: string): void
  /** What stands on it, with what has scrolled away, without the empty row of the cursor. */
  lines(): readonly string[]
}

/** As much of a terminal as the program uses: rows of text, a cursor that moves up, and clearing. */
export const terminal = (rows: number): Terminal => {
  const shown: string[] = ['']
  let at = 0
  let column = 0

  const put = (text: string): void => {
    const line = (shown[at] ?? '').padEnd(column)
    shown[at] = line.slice(0, column) + text + line.slice(column + text.length)
    column += text.length
  }
  const obey = (code: string, parameter: string): void => {
    if (code === 'A') at = Math.max(0, shown.length - rows, at - Number(parameter))
    else if (code === 'K') shown[at] = (shown[at] ?? '').slice(0, column)
    else if (code === 'J') shown.splice(at, shown.length, (shown[at] ?? '').slice(0, column))
    else if (code !== 'm' && code !== 'l' && code !== 'h') throw new Error(`this terminal does not know ${code}`)
  }

  return {
    take(text) {
      for (const [part, parameter = '', code = ''] of text.matchAll(/\u001b\[([?\d]*)([A-Za-z])|[\r\n]|[^\u001b\r\n]+/g)) {
        if (code !== '') obey(code, parameter)
        else if (part === '\r') column = 0
        else if (part === '\n') {
          at += 1
          column = 0
          shown[at] ??= ''
        } else put(part)
      }
    },
    lines: () => shown.slice(0, at),
  }
}
