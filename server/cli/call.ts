import type { Config } from '../config.ts'
import type { Engine, Workplace } from '../engine.ts'
import type { ExitCode } from './exitCode.ts'
import type { Option } from './option.ts'
import type { Server } from './serverAsked.ts'
import type { Settings } from './settings.ts'
import type { Shell } from './shell.ts'

export type Log = (line: { readonly level: 'info' | 'warn' | 'error'; readonly message: string }) => void

/** One command as it was called. */
export type Call = Settings & {
  readonly args: readonly string[]
  readonly json: boolean
  readonly shell: Shell
  readonly config: Config
  /** Who is asked instead of a store here; null: nobody. */
  readonly server: Server | null
  /** Every variable that steers some command. */
  readonly variables: readonly string[]
  /** `log` hears what the runtime has to tell while the place is open. */
  open(config: Config, log: Log): Promise<Workplace>
  connect(server: Server): Promise<Engine>
}

/** What a command is, without the code that runs it: that is loaded when it is called. */
export type Command = {
  /** `['job', 'status']` */
  readonly words: readonly string[]
  /** `<job>`, `<paths...>`, `[names...]` */
  readonly argument?: string
  readonly about: string
  readonly options: readonly Option<unknown>[]
  load(): Promise<Run>
}

export type Run = (call: Call) => Promise<ExitCode>
