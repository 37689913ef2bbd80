import type { JobDocument } from '../../domain/job/document.ts'
import type { Call } from './call.ts'
import { jobSummary } from './jobSummary.ts'
import { nextSteps } from './nextSteps.ts'
import { plainText } from './plainText.ts'

/** The job on stdout: for people with what they may do next, or as the one JSON document. `notes` are for people. */
export const showJob = async (job: JobDocument, call: Call, notes: readonly string[] = []): Promise<void> => {
  if (call.json) {
    await call.shell.stdout.write(`${JSON.stringify(job)}\n`)
    for (const note of notes) await call.shell.stderr.write(`${plainText(note)}\n`)
    return
  }
  const lines = [...notes, ...nextSteps(job, call)].map((line) => `  ${plainText(line)}\n`)
  await call.shell.stdout.write(`${jobSummary(job, call.shell)}\n${lines.join('')}`)
}
