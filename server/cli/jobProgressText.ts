import type { JobDocument } from '../../domain/job/document.ts'
import { dollarsText } from './dollarsText.ts'

type Budget = JobDocument['budget']

/** `12/20 lines`, `12 lines`, or nothing where the stage has told nothing. */
export const progressText = ({ progress }: Pick<JobDocument, 'progress'>): string => {
  if (progress === null) return ''
  const total = progress.total === null ? '' : `/${progress.total}`
  return `${progress.done}${total} ${progress.unit}`
}

export const spentText = ({ spentCostUsd, maximumCostUsd }: Pick<Budget, 'spentCostUsd' | 'maximumCostUsd'>): string =>
  maximumCostUsd === null
    ? `${dollarsText(spentCostUsd)} without a limit`
    : `${dollarsText(spentCostUsd)} of ${dollarsText(maximumCostUsd)}`

/** Nothing for a paused job: what it waits for is why it is paused, and is said there. */
export const waitingText = ({ state, waitingFor, retryAt }: Pick<JobDocument, 'state' | 'waitingFor' | 'retryAt'>): string => {
  if (state === 'paused') return ''
  const reason = waitingFor?.reason ?? (retryAt === null ? '' : 'its next attempt')
  const until = waitingFor?.until ?? retryAt
  if (reason === '') return ''
  return `waiting for ${reason.replaceAll('_', ' ')}${until === null ? '' : ` until ${until}`}`
}
