import type { JobDocument } from '../../domain/job/document.ts'
import { dollarsText } from './dollarsText.ts'
import { progressText, spentText, waitingText } from './jobProgressText.ts'
import { plainText } from './plainText.ts'

const retoldMs = 10_000

/** A line when state, stage or what is waited for have changed since the last one, or it is long ago; else null. */
export const changeTeller = (): ((job: JobDocument) => string | null) => {
  let told = ''
  let toldAt = 0
  return (job) => {
    const subject = JSON.stringify([job.state, job.stage, waitingText(job)])
    if (subject === told && performance.now() - toldAt < retoldMs) return null
    told = subject
    toldAt = performance.now()
    return `${progressOf(job)}\n`
  }
}

const progressOf = (job: JobDocument): string => {
  const { heldCostUsd } = job.budget
  const parts = [
    `${job.state}${job.stage === null ? '' : ` ${job.stage}`}`,
    progressText(job),
    spentText(job.budget),
    heldCostUsd === '0' ? '' : `held ${dollarsText(heldCostUsd)}`,
    waitingText(job),
  ]
  return plainText(parts.filter((part) => part !== '').join(' · '))
}
