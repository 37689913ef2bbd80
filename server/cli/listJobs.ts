import type { Engine, JobListQuery } from '../engine.ts'
import type { Call, Run } from './call.ts'
import { dollarsText } from './dollarsText.ts'
import { exitCode } from './exitCode.ts'
import { progressText } from './jobProgressText.ts'
import { options } from './options.ts'
import { present } from './present.ts'
import { tableWidth } from './shell.ts'
import { withEngine } from './store.ts'
import { type Column, textTable } from './textTable.ts'

type Listed = Awaited<ReturnType<Engine['list']>>['items'][number]

/** Jobs, newest first, a page at a time. */
export const listJobs: Run = (call) =>
  withEngine(call, async (engine) => {
    const { stdout, stderr } = call.shell
    const { items, nextCursor } = await engine.list(queryOf(call))
    if (call.given(options.jsonl) ?? false) {
      for (const job of items) if (!(await stdout.write(`${JSON.stringify(job)}\n`))) break
    } else if (call.json) {
      await stdout.write(`${JSON.stringify({ items, nextCursor })}\n`)
    } else {
      await stdout.write(items.length === 0 ? 'no jobs\n' : textTable(columns, items, tableWidth(stdout)))
    }
    if (nextCursor !== null && !call.json) await stderr.write(`more: the same again with --cursor ${nextCursor}\n`)
    return exitCode.done
  })

const queryOf = ({ given }: Call): JobListQuery => ({
  ...present('projectId', given(options.listProject)),
  ...present('state', given(options.listState)),
  ...present('type', given(options.listType)),
  ...present('label', given(options.listLabel)?.join('=')),
  ...present('limit', given(options.listLimit)),
  ...present('cursor', given(options.listCursor)),
})

const columns: readonly Column<Listed>[] = [
  { heading: 'JOB', text: (job) => job.jobId.slice(0, 12) },
  { heading: 'PROJECT', spare: 3, text: (job) => job.projectId },
  { heading: 'TYPE', spare: 2, text: (job) => job.type },
  { heading: 'STATE', text: (job) => job.state },
  { heading: 'STAGE', text: (job) => job.stage ?? '' },
  { heading: 'PROGRESS', text: progressText },
  { heading: 'SPENT', align: 'right', text: (job) => dollarsText(job.spentCostUsd) },
  { heading: 'HELD', align: 'right', text: (job) => (job.heldCostUsd === '0' ? '' : dollarsText(job.heldCostUsd)) },
  { heading: 'CALLS', align: 'right', spare: 1, text: (job) => String(job.callsMade) },
  { heading: 'SUBMITTED', spare: 4, text: (job) => job.createdAt },
  { heading: 'WHY', text: (job) => job.errorCode ?? '' },
]
