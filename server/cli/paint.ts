import type { Shell, TextOut } from './shell.ts'

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

export type Style = keyof typeof codes

/** Gives the text a style, where it is shown with styles. */
export type Paint = (text: string, style: Style) => string

/** Styles on a terminal, unless somebody has asked for none (NO_COLOR). */
export const painter = (out: TextOut, env: Shell['env']): Paint =>
  out.isTerminal && (env['NO_COLOR'] ?? '') === ''
    ? (text, style) => `\u001b[${codes[style]}m${text}\u001b[0m`
    : (text) => text
