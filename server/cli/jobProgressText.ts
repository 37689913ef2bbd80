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

export const waitingText = ({ waitingFor, retryAt }: Pick<JobDocument, 'waitingFor' | 'retryAt'>): string => {
  const reason = waitingFor?.reason ?? (retryAt === null ? '' : 'its next attempt')
  const until = waitingFor?.until ?? retryAt
  if (reason === '') return ''
  return `waiting for ${reason.replaceAll('_', ' ')}${until === null ? '' : ` until ${until}`}`
}
