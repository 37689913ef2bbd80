import { basename, relative, sep } from 'node:path'
import type { DemoFolder } from './demoFolder.ts'
import { programPath } from './demoProcesses.ts'

/** Long enough to be unique, short enough to read. */
const handleLength = 12

type Further = readonly [command: string, about: string]

/** Commands that can be pasted, each with what it is good for. */
export const furtherCommands = (jobId: string, folder: DemoFolder): readonly Further[] => {
  const handle = jobId.slice(0, handleLength)
  const at = `--store ${quoted(`sqlite:${folder.store}`)}`
  const program = programWords()
  return [
    [`${program} job status ${handle} ${at}`, 'the job as it stands'],
    [`${program} job events ${handle} ${at}`, 'its whole history, the kill and the takeover among it'],
    [`${program} job ledger ${handle} ${at}`, 'every call and what it cost'],
    [`${program} job audit ${handle} ${at}`, 'the audit again'],
    [
      `${program} run ${quoted(folder.prompts)} --config ${quoted(folder.config)}`,
      'the same batch once more: it is known, so nothing is called or paid',
    ],
  ]
}

/** How this program was called: a fresh clone has no `knovaryn` on the path. */
const programWords = (): string => {
  const called = process.argv[1] ?? ''
  if (basename(called) === 'knovaryn') return called.includes(`node_modules${sep}.bin`) ? 'npx knovaryn' : 'knovaryn'
  const path = relative('', programPath)
  return `node ${quoted(path.startsWith('..') ? programPath : path)}`
}

const quoted = (text: string): string => (/^[\w:./@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
