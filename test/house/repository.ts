import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A file by its path from the root of the repository, with `/` between names. */
export type SourceFile = { readonly path: string; readonly text: string }

const root = fileURLToPath(new URL('../../', import.meta.url))

const unversioned = new Set([
  '.git',
  ...readFileSync(`${root}.gitignore`, 'utf8')
    .split('\n')
    .map((line) => line.replace(/\/$/, ''))
    .filter((line) => line !== ''),
])

/** What stands at the top level and is meant for the repository. */
export const topLevel = (): readonly string[] =>
  readdirSync(root).filter((name) => !unversioned.has(name) && !name.endsWith('.tsbuildinfo'))

const walk = (folder: string): string[] =>
  readdirSync(`${root}${folder}`, { withFileTypes: true })
    .filter((entry) => !unversioned.has(entry.name))
    .flatMap((entry) => (entry.isDirectory() ? walk(`${folder}${entry.name}/`) : [`${folder}${entry.name}`]))

// Walked, not asked of git: a tarball of the repository has to pass as well.
const texts = /\.(ts|tsx|mjs|js|json|md|ya?ml|css|html|npmrc|gitignore)$|^\.ci\/|^LICENSE$/

/** Every text file of the repository. */
export const textFiles = (): readonly SourceFile[] =>
  walk('')
    .filter((path) => texts.test(path))
    .map((path) => ({ path, text: readFileSync(`${root}${path}`, 'utf8') }))

const isCode = (path: string): boolean => /\.(ts|tsx|mjs)$/.test(path)

/** Every source file of the repository, tests included. */
export const codeFiles = (): readonly SourceFile[] => textFiles().filter((file) => isCode(file.path))

/** The text of one file, or null where there is none. */
export const readText = (path: string): string | null => {
  try {
    return readFileSync(`${root}${path}`, 'utf8')
  } catch {
    return null
  }
}
