import { userInfo } from 'node:os'
import type { Asker } from '../engine.ts'

/** Who stands behind this command line: shown in the job's history. */
export const asker = (): Asker => ({ actor: `cli:${userName()}` })

const userName = (): string => {
  try {
    return userInfo().username.slice(0, 100) || 'unknown'
  } catch {
    // In a container the user may have a number only.
    return 'unknown'
  }
}
