import { mkdir, mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { StoreUnavailable } from '../../../domain/errors.ts'
import { UsageError } from '../usageError.ts'

/** Where everything of one demo lies, as absolute paths. */
export type DemoFolder = {
  readonly path: string
  readonly documents: string
  readonly prices: string
  readonly config: string
  readonly store: string
  /** What the provider itself wrote about every call. */
  readonly callLog: string
  readonly results: string
  /** What the processes had to tell. */
  readonly processLog: string
}

/**
 * A folder that nothing is in yet: the one wanted, or `<wanted>-2`, `-3`, … where things are in it. Without a wish,
 * a new one among the temporary files. Raises `UsageError` and `StoreUnavailable`.
 */
export const freshFolder = async (wanted: string | undefined): Promise<DemoFolder> => {
  try {
    if (wanted === undefined) return placesIn(await mkdtemp(join(tmpdir(), 'knovaryn-demo-')))
    return placesIn(await firstEmpty(resolve(wanted)))
  } catch (error) {
    const code = codeOf(error)
    if (code === null) throw error
    const place = wanted ?? tmpdir()
    if (code === 'ENOTDIR' || code === 'EEXIST') {
      throw new UsageError('invalid_option', `--dir ${place} is not a folder`, { option: '--dir' })
    }
    throw new StoreUnavailable(`${place} cannot be written (${code}): name another folder with --dir`, {
      path: place,
      cause: code,
    })
  }
}

const placesIn = (path: string): DemoFolder => ({
  path,
  documents: join(path, 'documents'),
  prices: join(path, 'prices.json'),
  config: join(path, 'knovaryn.json'),
  store: join(path, 'store'),
  callLog: join(path, 'provider-calls.jsonl'),
  results: join(path, 'results'),
  processLog: join(path, 'processes.log'),
})

const firstEmpty = async (wanted: string): Promise<string> => {
  await mkdir(dirname(wanted), { recursive: true })
  for (let nth = 1; ; nth += 1) {
    const path = nth === 1 ? wanted : `${wanted}-${nth}`
    if (await isMade(path)) return path
    // Made beforehand by whoever wants the demo there.
    if ((await readdir(path)).length === 0) return path
  }
}

/** False when it was there already, so that of two demos one makes it. */
const isMade = async (path: string): Promise<boolean> => {
  try {
    await mkdir(path)
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    return false
  }
}

const codeOf = (error: unknown): string | null =>
  error instanceof Error && 'code' in error ? String(error.code) : null
