import type { JobState } from '../../domain/job/job.ts'
import type { Shell } from './shell.ts'

const red = 31
const green = 32
const yellow = 33

/** Puts the text in a colour on standard output, where that is a terminal and nobody has asked for none (NO_COLOR). */
const coloured = (text: string, code: number, { stdout, env }: Shell): string =>
  stdout.isTerminal && (env['NO_COLOR'] ?? '') === '' ? `\u001b[${code}m${text}\u001b[0m` : text

const ofState: Readonly<Partial<Record<JobState, number>>> = {
  succeeded: green,
  failed: red,
  paused: yellow,
  cancelled: yellow,
  retry_wait: yellow,
}

export const colouredState = (state: JobState, shell: Shell): string => {
  const code = ofState[state]
  return code === undefined ? state : coloured(state, code, shell)
}

const ofVerdict = { ok: green, warn: yellow, fail: red, BROKEN: red } as const

export const colouredVerdict = (verdict: keyof typeof ofVerdict, shell: Shell): string =>
  coloured(verdict, ofVerdict[verdict], shell)
