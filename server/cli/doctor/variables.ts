import { nearest } from '../../../domain/nearest.ts'
import { options } from '../options.ts'
import { type Checked, warn } from './check.ts'

const known = [...Object.values(options).map((option) => option.variable), 'KNOVARYN_DEBUG']

/** Variables that look like ours and are not: most likely misspelt, and without any effect. */
export const unknownVariables = (env: Readonly<Record<string, string | undefined>>): readonly Checked[] =>
  Object.keys(env)
    .filter((name) => name.startsWith('KNOVARYN_') && !known.includes(name))
    .map((name) => {
      const meant = nearest(name, known)
      return warn('variables', `${name} has no effect`, meant === null ? 'unset it' : `did you mean ${meant}?`)
    })
