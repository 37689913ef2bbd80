import { nearest } from '../../../domain/nearest.ts'
import type { Call } from '../call.ts'
import { type Checked, warn } from './check.ts'

/** Variables that look like ours and are not: most likely misspelt, and without any effect. */
export const unknownVariables = ({ shell, variables }: Call): readonly Checked[] => {
  const known = [...variables, 'KNOVARYN_DEBUG', 'KNOVARYN_WEBHOOK_SECRET', 'KNOVARYN_TOKEN']
  return Object.keys(shell.env)
    .filter((name) => name.startsWith('KNOVARYN_') && !known.includes(name))
    .map((name) => {
      // A forgotten unit is the likeliest slip.
      const meant = known.find((each) => each.startsWith(`${name}_`)) ?? nearest(name, known)
      return warn('variables', `${name} has no effect`, meant === null ? 'unset it' : `did you mean ${meant}?`)
    })
}
