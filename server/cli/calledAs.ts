import { basename, relative, sep } from 'node:path'
import { shellQuoted } from './shellQuoted.ts'

/** How this program was called, as words that can be pasted: a fresh clone has no `knovaryn` on the path. */
export const calledAs = (scriptPath: string): string => {
  if (basename(scriptPath) === 'knovaryn') {
    return scriptPath.includes(`node_modules${sep}.bin`) ? 'npx knovaryn' : 'knovaryn'
  }
  const path = relative('', scriptPath)
  return `node ${shellQuoted(path.startsWith('..') ? scriptPath : path)}`
}
