import { stat } from 'node:fs/promises'
import type { Engine, Workplace } from '../engine.ts'
import type { Call, Log } from './call.ts'
import { troubleLog } from './logText.ts'
import type { Server } from './serverAsked.ts'
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

/** The engine of the server that is asked, or of a store here, which is made where there is none yet. */
export const withSubmitting = <Value>(
  call: Call,
  work: (place: Pick<Workplace, 'engine' | 'tellEnd'>) => Promise<Value>,
): Promise<Value> =>
  // Hooks are those of whoever works the jobs.
  call.server === null ? withWorkplace(call, work) : withServer(call, call.server, (engine) => work({ engine, tellEnd: async () => {} }))

const withServer = async <Value>(call: Call, server: Server, work: (engine: Engine) => Promise<Value>): Promise<Value> => {
  const engine = await call.connect(server)
  try {
    return await work(engine)
  } finally {
    await engine.close()
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

/** The engine of the server that is asked, or on a store that is there. */
export const withEngine = <Value>(call: Call, work: (engine: Engine) => Promise<Value>): Promise<Value> =>
  call.server === null ? withStore(call, ({ engine }) => work(engine)) : withServer(call, call.server, work)

/** The same, or on an empty store in memory where none is there: to look must not leave a store behind. */
export const withAnyEngine = async <Value>(call: Call, work: (engine: Engine) => Promise<Value>): Promise<Value> =>
  (await isThere(call)) ? withEngine(call, work) : withMemory(call, work)

/** Whether there is something to ask. A server says itself what it has. */
export const isThere = async (call: Call): Promise<boolean> => call.server !== null || storeIsThere(call)

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
