import { stat } from 'node:fs/promises'
import type { Engine, Workplace } from '../engine.ts'
import type { Call, Log } from './call.ts'
import { troubleLog } from './logText.ts'
import { UsageError } from './usageError.ts'

/** Opens the store for as long as the work takes, making it where there is none yet. */
export const withWorkplace = async <Value>(
  call: Call,
  work: (workplace: Workplace) => Promise<Value>,
  log: Log = troubleLog(call.shell.stderr),
): Promise<Value> => {
  const workplace = await call.open(call.config, log)
  try {
    return await work(workplace)
  } finally {
    await workplace.close()
  }
}

/** Opens a store that is there. To look for something in the wrong folder must not leave an empty store in it. */
export const withStore = async <Value>(call: Call, work: (workplace: Workplace) => Promise<Value>): Promise<Value> => {
  if (!(await storeIsThere(call))) {
    const { store } = call.config
    throw new UsageError(
      'no_store',
      `there is no store at ${store}: name another with --store sqlite:DIR, or submit a first job`,
      { store },
    )
  }
  return withWorkplace(call, work)
}

/** The engine on a store that is there. */
export const withEngine = <Value>(call: Call, work: (engine: Engine) => Promise<Value>): Promise<Value> =>
  withStore(call, ({ engine }) => work(engine))

/** The engine on the store where there is one, else on an empty one in memory: to look must not leave a store behind. */
export const withAnyEngine = async <Value>(call: Call, work: (engine: Engine) => Promise<Value>): Promise<Value> =>
  (await storeIsThere(call)) ? withWorkplace(call, ({ engine }) => work(engine)) : withMemory(call, work)

/** The engine on an empty store in memory. */
export const withMemory = <Value>(call: Call, work: (engine: Engine) => Promise<Value>): Promise<Value> =>
  withWorkplace({ ...call, config: { ...call.config, store: 'memory:' } }, ({ engine }) => work(engine), () => {})

export const storeIsThere = async ({ config }: Call): Promise<boolean> => {
  const folder = storeFolderOf(config.store)
  return folder === null || exists(folder)
}

/** The folder of a `sqlite:` store, or null for another kind. */
export const storeFolderOf = (store: string): string | null =>
  store.startsWith('sqlite:') ? store.slice('sqlite:'.length) : null

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    // Whatever else keeps it from being looked at is for the store itself to say.
    (error: unknown) => !(error instanceof Error && 'code' in error && error.code === 'ENOENT'),
  )
