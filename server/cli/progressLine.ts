import type { JobDocument } from '../../domain/job/document.ts'
import { dollarsText } from './dollarsText.ts'
import { progressText, spentText, waitingText } from './jobProgressText.ts'
import { plainText } from './plainText.ts'
import type { TextOut } from './shell.ts'
import { fitting } from './textWidth.ts'

/** How a job is getting on, shown beside its result. */
export type ProgressLine = {
  show(job: JobDocument): void
  /** Shows the last one and leaves the line. */
  end(): void
}

const redrawMs = 100
const retoldMs = 10_000

/** On a terminal one line that is drawn over itself; elsewhere a line on every change of state or stage, and now and then. */
export const progressLine = (out: TextOut): ProgressLine => (out.isTerminal ? redrawnLine(out) : lineOnChange(out))

const redrawnLine = (out: TextOut): ProgressLine => {
  let drawn: string | null = null
  let due: string | null = null
  let timer: NodeJS.Timeout | null = null
  const draw = (): void => {
    if (due === null || due === drawn) return
    void out.write(`\r\u001b[K${fitting(due, out.columns - 1)}`)
    drawn = due
  }
  const drawAndRest = (): void => {
    draw()
    timer = setTimeout(() => {
      timer = null
      if (due !== drawn) drawAndRest()
    }, redrawMs)
    timer.unref()
  }
  return {
    show(job) {
      due = progressOf(job)
      if (timer === null) drawAndRest()
    },
    end() {
      if (timer !== null) clearTimeout(timer)
      draw()
      if (drawn !== null) void out.write('\n')
    },
  }
}

const lineOnChange = (out: TextOut): ProgressLine => {
  const changeOf = changeTeller()
  return {
    show(job) {
      const line = changeOf(job)
      if (line !== null) void out.write(line)
    },
    end: () => {},
  }
}

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
