import type { Call } from './call.ts'
import { commands } from './commands.ts'
import { readConfigFile } from './configFile.ts'
import { type ExitCode, exitCode } from './exitCode.ts'
import { globalOptions, options } from './options.ts'
import { processConfig } from './processConfig.ts'
import { parseCommandLine } from './program.ts'
import { reportError } from './reportError.ts'
import { serverAsked } from './serverAsked.ts'
import { settingsOf } from './settings.ts'
import type { Shell } from './shell.ts'

/** What a command line works with; only `main.ts` knows how that is put together. */
export type CliParts = Pick<Call, 'shell' | 'open' | 'connect'> & { readonly version: string }

/** Runs one command line to its end. Never raises: whatever goes wrong is shown, and stands in the answer. */
export const runCli = async (argv: readonly string[], parts: CliParts): Promise<ExitCode> => {
  const { shell } = parts
  try {
    return await runParsed(argv, parts)
  } catch (error) {
    return reportError(error, shell, wantsJson(argv, shell))
  }
}

const runParsed = async (argv: readonly string[], { version, shell, open, connect }: CliParts): Promise<ExitCode> => {
  const parsed = await parseCommandLine(argv, version, shell.stdout.columns)
  if (parsed.asks === 'text') {
    await shell.stdout.write(parsed.text)
    return exitCode.done
  }
  const { command, args, commandLine } = parsed
  const sources = { commandLine, env: shell.env }
  const path = settingsOf({ ...sources, file: null }).given(options.config)
  const file = path === undefined ? null : await readConfigFile(path)
  const settings = settingsOf({ ...sources, file })
  // Before anything is opened, also what this command will not look at in this call.
  for (const option of [...globalOptions, ...command.options]) settings.given(option)
  const call: Call = {
    ...settings,
    args,
    shell,
    json: settings.given(options.json) ?? false,
    config: processConfig(settings, shell.env, file),
    server: serverAsked(command, settings, shell.env),
    variables: variables(),
    open,
    connect,
  }
  const run = await command.load()
  return run(call)
}

const variables = (): readonly string[] =>
  [...globalOptions, ...commands.flatMap((each) => each.options)].map((option) => option.variable)

/** Also right for a command line that could not be read. */
const wantsJson = (argv: readonly string[], shell: Shell): boolean =>
  argv.includes('--json') || argv.includes('--jsonl') || /^(1|true)$/.test(shell.env[options.json.variable] ?? '')
