import type { Run } from './call.ts'
import { estimateText } from './estimateText.ts'
import { exitCode } from './exitCode.ts'
import { plainText } from './plainText.ts'
import { unreachable } from './reachableProvider.ts'
import { tableWidth } from './shell.ts'
import { withAnyEngine } from './store.ts'
import { submissionOf } from './submission.ts'

/** What a job is going to take, before anything is written or spent. */
export const estimateJob: Run = async (call) => {
  const submission = await submissionOf(call)
  const estimate = await withAnyEngine(call, (engine) => engine.estimate(submission))
  const { stdout, stderr } = call.shell
  if (call.json) {
    await stdout.write(`${JSON.stringify(estimate)}\n`)
    return exitCode.done
  }
  const unknown = unreachable(submission, call)
  if (unknown !== null) await stderr.write(`${plainText(unknown)} How it counts, and so the worst case, cannot be told.\n`)
  const there = estimate.existing ? `  The job is there already: ${call.shell.program} job status ${estimate.jobId.slice(0, 12)}\n` : ''
  await stdout.write(`${estimateText(estimate, tableWidth(stdout))}${there}`)
  return exitCode.done
}
