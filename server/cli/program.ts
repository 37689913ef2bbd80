import { Command as Commander, CommanderError, Option as CommanderOption } from 'commander'
import type { Command } from './call.ts'
import { commands } from './commands.ts'
import type { Option } from './option.ts'
import { globalOptions } from './options.ts'
import type { CommandLine } from './settings.ts'
import { UsageError } from './usageError.ts'

/** What a command line asks for. */
export type Parsed =
  | { readonly asks: 'command'; readonly command: Command; readonly args: readonly string[]; readonly commandLine: CommandLine }
  | { readonly asks: 'text'; readonly text: string }

/** Reads a command line. Raises `UsageError` for one that is wrong, naming what was most likely meant. */
export const parseCommandLine = async (
  argv: readonly string[],
  version: string,
  columns: number,
): Promise<Parsed> => {
  let text = ''
  const parsed: Parsed[] = []
  const program = new Commander('knovaryn')
    .description('Durable jobs of paid model calls: a job log that is also the money ledger')
    .version(version, '--version', 'the version of this program')
    .helpOption('--help', 'what a command does, and its options')
    .helpCommand(false)
    .usage('<command> [options]')
    .configureHelp({ showGlobalOptions: true, helpWidth: Math.min(columns, 120) })
    .configureOutput({ writeOut: (more) => (text += more), writeErr: () => {}, outputError: () => {} })
    .exitOverride()
  for (const option of globalOptions) program.addOption(commanderOption(option))
  const groups = new Map<string, Commander>()
  const groupOf = (word: string): Commander => {
    const group = groups.get(word) ?? program.command(word).description(`${aboutGroup[word] ?? ''}: ${wordsAfter(word).join(', ')}`).usage('<command>')
    groups.set(word, group)
    return group
  }
  for (const command of commands) {
    const [first = '', second] = command.words
    const parent = second === undefined ? program : groupOf(first)
    const own = parent.command(second ?? first).description(command.about).usage(`${command.argument ?? ''} [options]`.trim())
    if (command.argument !== undefined) own.argument(command.argument)
    for (const option of command.options) own.addOption(commanderOption(option))
    own.action(() => {
      parsed.push({ asks: 'command', command, args: own.args, commandLine: commandLineOf(program, own, command) })
    })
  }
  try {
    await program.parseAsync([...argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return { asks: 'text', text: textOrRefusal(error, text, argv) }
  }
  return parsed[0] ?? { asks: 'text', text: program.helpInformation() }
}

const aboutGroup: Readonly<Record<string, string>> = {
  job: 'look at jobs, and steer them',
  log: 'check the log',
  projections: 'the views of the log',
  token: 'who may come in to a server',
}

const commanderOption = (option: Option<unknown>): CommanderOption => {
  const flags = option.argument === null ? `--${option.name}` : `--${option.name} ${option.argument}`
  const made = new CommanderOption(flags, `${option.about} [${option.variable}]`).helpGroup(option.group)
  if (option.repeated) made.argParser((text, before: readonly string[] | undefined) => [...(before ?? []), text])
  return made
}

const commandLineOf = (program: Commander, own: Commander, command: Command): CommandLine => ({
  valueOf: (option): unknown => {
    const from = command.options.includes(option) ? own : globalOptions.some((each) => each === option) ? program : null
    return from?.getOptionValue(commanderOption(option).attributeName())
  },
})

const codes: Readonly<Record<string, string>> = {
  'commander.unknownOption': 'unknown_option',
  'commander.unknownCommand': 'unknown_command',
  'commander.missingArgument': 'missing_argument',
  'commander.optionMissingArgument': 'missing_value',
  'commander.excessArguments': 'too_many_arguments',
}

/** Help and version are asked for; everything else that commander raises is a wrong command line. */
const textOrRefusal = (error: CommanderError, text: string, argv: readonly string[]): string => {
  if (error.exitCode === 0) return text
  const called = wordsCalled(argv)
  const help = ['knovaryn', ...called, '--help'].join(' ')
  if (error.code === 'commander.help') {
    const known = called[0] === undefined ? [...new Set(commands.map(({ words }) => words[0]))] : wordsAfter(called[0])
    throw new UsageError('missing_command', `a command is missing${called[0] === undefined ? '' : ` behind "${called[0]}"`}: one of ${known.join(', ')}`, { known, help })
  }
  const message = error.message.replace(/^error: /, '').replace(/\n\(?Did you mean (.*?)\?\)?$/s, ': did you mean $1?')
  throw new UsageError(codes[error.code] ?? 'usage', message, { help })
}

/** The second words of the commands that begin with this one. */
const wordsAfter = (first: string): readonly string[] =>
  commands.flatMap(({ words }) => (words[0] === first && words[1] !== undefined ? [words[1]] : []))

/** The command that the line begins to call, as far as it is one. */
const wordsCalled = (argv: readonly string[]): readonly string[] => {
  const [first = '', second = ''] = argv.filter((word) => !word.startsWith('-'))
  const isKnown = commands.some(({ words }) => words[0] === first)
  return isKnown ? [first, ...wordsAfter(first).filter((word) => word === second)] : []
}
