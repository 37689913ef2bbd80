import type { JobDocument } from '../../domain/job/document.ts'
import type { Call } from './call.ts'
import { limitFlag } from './limitFlag.ts'
import { options } from './options.ts'
import { shellQuoted } from './shellQuoted.ts'

/** Long enough to be unique in any store, short enough to read. */
const handleLength = 12

/** What a person may want to do with the job now, as commands that can be pasted. */
export const nextSteps = (job: JobDocument, call: Call): readonly string[] => {
  const command = (words: string, more = ''): string =>
    `${call.shell.program} ${words} ${job.jobId.slice(0, handleLength)}${more}${placesText(call)}`
  switch (job.state) {
    case 'succeeded':
      return [command('job ledger')]
    case 'failed':
      return job.errorCode === 'policy_block'
        ? ['What failed by policy is never retried: change what is asked, submit it anew.']
        : [command('job retry')]
    case 'cancelled':
      return ['A cancelled job stays so: to do the same work, run it with another --key.']
    case 'paused':
      return [command('job resume', raiseText(job))]
    case 'queued':
      // Nobody may be working: a job that was just submitted waits for a worker.
      return [...(call.server === null ? [`${call.shell.program} worker --once${placesText(call)}`] : []), command('job watch')]
    case 'leased':
    case 'running':
    case 'retry_wait':
    case 'pausing':
    case 'cancelling':
      return [command('job watch')]
  }
}

/** The same store, files and providers again, where they were named on the command line. */
const placesText = (call: Call): string =>
  [options.store, options.artifacts, options.data, options.server, options.config]
    .map((option) => {
      const place = call.typed(option)
      return place === undefined ? '' : ` --${option.name} ${shellQuoted(place)}`
    })
    .join('')

const raiseText = ({ errorCode, errorSummary }: JobDocument): string => {
  if (errorCode !== 'budget_exhausted') return ''
  const [, flag = '--budget-usd'] = Object.entries(limitFlag).find(([limit]) => errorSummary?.includes(limit)) ?? []
  return ` ${flag} NEW_TOTAL`
}
