import { shellQuoted } from '../shellQuoted.ts'
import type { DemoFolder } from './demoFolder.ts'

/** Long enough to be unique, short enough to read. */
const handleLength = 12

type Further = readonly [command: string, about: string]

/** Commands that can be pasted, each with what it is good for. */
export const furtherCommands = (jobId: string, folder: DemoFolder, program: string): readonly Further[] => {
  const handle = jobId.slice(0, handleLength)
  const at = `--store ${shellQuoted(`sqlite:${folder.store}`)}`
  return [
    [`${program} job status ${handle} ${at}`, 'the job as it stands'],
    [`${program} job events ${handle} ${at}`, 'its whole history, the kill and the takeover among it'],
    [`${program} job ledger ${handle} ${at}`, 'every call and what it cost'],
    [`${program} job audit ${handle} ${at}`, 'the audit again'],
    [
      `${program} run ${shellQuoted(folder.documents)} --config ${shellQuoted(folder.config)}`,
      'the same dataset once more: it is known, so nothing is called or paid',
    ],
  ]
}
