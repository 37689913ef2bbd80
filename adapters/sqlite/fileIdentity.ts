import { statSync } from 'node:fs'

/** Tells one file from another that takes its place under the same path. Null when there is none. */
export const fileIdentity = (path: string): string | null => {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? null : `${found.dev}:${found.ino}`
}
