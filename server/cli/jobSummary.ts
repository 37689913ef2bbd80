import type { JobDocument } from '../../domain/job/document.ts'
import { isTerminal } from '../../domain/job/job.ts'
import { dollarsText } from './dollarsText.ts'
import { progressText, spentText, waitingText } from './jobProgressText.ts'
import { plainText } from './plainText.ts'
import type { Shell } from './shell.ts'
import { colouredState } from './stateColour.ts'

/** The job as people read it: a heading, and a line for each thing worth knowing in its state. */
export const jobSummary = (job: JobDocument, shell: Shell): string => {
  const lines: readonly (readonly [label: string, text: string])[] = [
    ['why', whyText(job)],
    ['waiting', waitingText(job).replace(/^waiting for /, 'for ')],
    ['requested', requestText(job)],
    ['stage', stageText(job)],
    ['results', resultText(job)],
    ['spent', moneyText(job)],
    ['estimate', estimateText(job)],
    ['calls', callsText(job)],
    ['limits', limitsText(job)],
    ['attempts', attemptsText(job)],
    ['worker', job.leaseOwner ?? ''],
    ['lease', job.leaseExpiresAt === null ? '' : `until ${job.leaseExpiresAt}`],
    ['priority', job.priority === 0 ? '' : String(job.priority)],
    ['labels', Object.entries(job.labels).map(([name, value]) => `${name}=${value}`).join(' ')],
    ['submitted', timesText(job)],
  ]
  const shown = lines.filter(([, text]) => text !== '').map(([label, text]) => `  ${label.padEnd(10)} ${plainText(text)}\n`)
  return `Job ${job.jobId} · ${plainText(`${job.projectId}/${job.type}`)} · ${colouredState(job.state, shell)}\n${shown.join('')}`
}

const whyText = ({ errorCode, errorSummary, state }: JobDocument): string => {
  if (errorCode !== null) return errorSummary === null ? errorCode : `${errorCode}: ${errorSummary}`
  return state === 'paused' || state === 'pausing' ? 'somebody asked it to pause' : ''
}

const requestText = ({ state, pauseRequestedAt, cancellationRequestedAt }: JobDocument): string => {
  if (state === 'cancelled' || state === 'succeeded' || state === 'failed') return ''
  if (cancellationRequestedAt !== null) return `to be cancelled, since ${cancellationRequestedAt}`
  return pauseRequestedAt === null || state === 'paused' ? '' : `to pause, since ${pauseRequestedAt}`
}

const stageText = (job: JobDocument): string => {
  if (job.stage === null) return `all ${job.stages.length} done`
  const place = `${job.stage} (${job.stageIndex + 1} of ${job.stages.length})`
  const progress = progressText(job)
  return progress === '' ? place : `${place} · ${progress}`
}

/** The numbers of a result, such as how many lines of a batch have failed: the rest is for programs. */
const resultText = ({ output }: JobDocument): string => {
  if (output === null || !('json' in output) || typeof output.json !== 'object' || output.json === null) return ''
  const numbers = Object.entries(output.json).filter(([, value]) => typeof value === 'number')
  return numbers.map(([name, value]) => `${name} ${value}`).join(' · ')
}

const moneyText = ({ budget }: JobDocument): string =>
  [
    spentText(budget),
    budget.heldCostUsd === '0' ? '' : `held ${dollarsText(budget.heldCostUsd)}`,
    budget.reservedCostUsd === '0' ? '' : `reserved ${dollarsText(budget.reservedCostUsd)}`,
  ]
    .filter((part) => part !== '')
    .join(' · ')

/** What it may come to, for as long as that is open. */
const estimateText = ({ state, estimatedCostUsd }: JobDocument): string =>
  estimatedCostUsd === null || isTerminal(state) ? '' : `${dollarsText(estimatedCostUsd)} for the whole job at its worst`

const callsText = ({ budget }: JobDocument): string =>
  `${budget.callsMade}${budget.maximumCalls === null ? '' : ` of ${budget.maximumCalls}`} · ` +
  `${budget.inputTokens} tokens in, ${budget.outputTokens} out`

const limitsText = ({ budget }: JobDocument): string =>
  [
    budget.maximumInputTokens === null ? '' : `${budget.maximumInputTokens} input tokens`,
    budget.maximumOutputTokens === null ? '' : `${budget.maximumOutputTokens} output tokens`,
    budget.maximumDurationSeconds === null
      ? ''
      : `${budget.durationSeconds} of ${budget.maximumDurationSeconds} seconds at work`,
    budget.examplesProduced === 0 ? '' : `${budget.examplesProduced} of ${budget.maximumExamples ?? 'any number of'} examples`,
  ]
    .filter((part) => part !== '')
    .join(' · ')

const attemptsText = ({ attemptCount, maxAttempts, lostLeaseCount }: JobDocument): string => {
  if (attemptCount <= 1 && lostLeaseCount === 0) return ''
  const lost = lostLeaseCount === 0 ? '' : ` · lost its worker ${lostLeaseCount} times in a row`
  return `${attemptCount} of ${maxAttempts}${lost}`
}

const timesText = ({ createdAt, finishedAt }: JobDocument): string =>
  finishedAt === null ? createdAt : `${createdAt}, ended ${finishedAt}`
