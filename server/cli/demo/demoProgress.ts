import type { JobDocument } from '../../../domain/job/document.ts'
import { addUsd, nanoUsd, subtractUsd, zeroUsd } from '../../../domain/money.ts'
import { dollarsText } from '../dollarsText.ts'
import type { TextOut } from '../shell.ts'
import { fitting } from '../textWidth.ts'

/** Of the stage that is paid for. */
export type DemoProgress = {
  show(job: JobDocument): void
  /** Leaves the line of the terminal, with the last job in it. */
  end(): void
}

const redrawMs = 80
const barWidth = 20
/** Away from a terminal a line is printed whenever another such part of the job is done. */
const parts = 10

/** How far one worker has brought the job: done, spent, what is left of the budget, calls a second. */
export const demoProgress = (out: TextOut): DemoProgress => {
  let first: { readonly done: number; readonly atMs: number } | null = null
  let drawnAt = Number.NEGATIVE_INFINITY
  let last: string | null = null
  let toldPart: number | null = null
  const draw = (text: string): void => void out.write(`\r\u001b[K${fitting(text, out.columns - 1)}`)

  return {
    show(job) {
      const { done = 0, total = null } = job.progress ?? {}
      if (total === null || job.stage !== 'generate') return
      const nowMs = performance.now()
      // Until the worker has done something, it is still finding its place.
      if (first === null || first.done === done) first = { done, atMs: nowMs }
      const elapsedMs = nowMs - first.atMs
      const rate = elapsedMs < 500 ? null : ((done - first.done) / elapsedMs) * 1_000
      last = progressText(job, done, total, rate)
      if (out.isTerminal) {
        if (nowMs - drawnAt < redrawMs) return
        drawnAt = nowMs
        return draw(last)
      }
      const part = Math.floor((done / total) * parts)
      toldPart ??= part
      if (part === toldPart) return
      toldPart = part
      void out.write(`${last}\n`)
    },
    end() {
      if (last === null || !out.isTerminal) return
      draw(last)
      void out.write('\n')
    },
  }
}

const progressText = ({ budget }: JobDocument, done: number, total: number, rate: number | null): string => {
  const { spentCostUsd, heldCostUsd, maximumCostUsd } = budget
  const filled = Math.round((done / total) * barWidth)
  const bar = '█'.repeat(filled) + '░'.repeat(barWidth - filled)
  const limit = maximumCostUsd ?? zeroUsd
  const gone = addUsd(spentCostUsd, heldCostUsd)
  const left = nanoUsd(limit) > nanoUsd(gone) ? subtractUsd(limit, gone) : zeroUsd
  return [
    `  ${bar} ${String(done).padStart(String(total).length)}/${total}`,
    `${dollarsText(spentCostUsd)} spent`,
    `${dollarsText(left)} left`,
    ...(rate === null ? [] : [`${Math.round(rate)} calls/s`]),
  ].join(' · ')
}
