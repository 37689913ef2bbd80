import { readFileSync } from 'node:fs'

/** How many files and sockets this process may have open, where the system says it. */
export const openFilesMax = (): number => {
  try {
    const [, soft = ''] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === '' ? usual : Number(soft)
  } catch {
    return usual
  }
}

const usual = 1_024
