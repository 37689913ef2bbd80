import type { JobState } from '../../../domain/job/job.ts'
import { durationText } from '../durationText.ts'
import type { Style } from '../paint.ts'
import { textWidth } from '../textWidth.ts'
import { progressBar } from './bar.ts'
import { countText } from './countText.ts'
import { cut, joined, type Line, lineWidth, span } from './line.ts'
import type { LiveView } from './liveView.ts'
import { perSecond } from './pace.ts'
import { rateText, tookText } from './timeText.ts'

type Mark = { readonly glyph: string; readonly style: Style; readonly word?: string }

const done: Mark = { glyph: '✓', style: 'green' }
const toCome: Mark = { glyph: '·', style: 'dim' }
const atWork: Mark = { glyph: '●', style: 'cyan' }
const waiting: Mark = { glyph: '○', style: 'yellow' }

const ofState: Readonly<Record<JobState, Mark>> = {
  queued: { ...waiting, style: 'dim' },
  leased: atWork,
  running: atWork,
  retry_wait: waiting,
  pausing: atWork,
  paused: { glyph: '‖', style: 'yellow', word: 'paused' },
  cancelling: atWork,
  cancelled: { glyph: '✗', style: 'yellow', word: 'cancelled' },
  succeeded: done,
  failed: { glyph: '✗', style: 'red', word: 'failed' },
}

const markOf = ({ job }: LiveView, at: number): Mark => {
  if (job.stage === null || at < job.stageIndex) return done
  return at === job.stageIndex ? ofState[job.state] : toCome
}

const nameWidthMax = 14

/** Columns that the names of the stages take, and the labels of what stands below them. */
export const nameWidth = ({ job }: LiveView): number =>
  Math.min(nameWidthMax, job.stages.reduce((widest, stage) => Math.max(widest, textWidth(stage)), 8))

/** Each stage on a line of its own. */
export const stageLines = (view: LiveView, width: number, nowMs: number): readonly Line[] => {
  const nameColumns = nameWidth(view)
  return view.job.stages.map((stage, at) => {
    const mark = markOf(view, at)
    const name = cut([span(stage, mark === toCome ? 'dim' : null)], nameColumns)
    const begin: Line = [span('  '), span(mark.glyph, mark.style), span(' '), ...name]
    const space = span(' '.repeat(nameColumns - lineWidth(name) + 2))
    const isAtWork = at === view.job.stageIndex
    const rest = isAtWork ? progressLine(view, width - nameColumns - 6, nowMs) : tookLine(view, stage, mark)
    return cut(rest.length === 0 ? begin : [...begin, space, ...rest], width)
  })
}

/** All stages on one line, those far from the one at work only by their number; that one's progress below it. */
export const stagesRow = (view: LiveView, width: number, nowMs: number): readonly Line[] => {
  const { job } = view
  const named = job.stages.map((stage, at): Line => {
    const { glyph, style } = markOf(view, at)
    return [span(glyph, style), span(` ${stage}`)]
  })
  const counted: readonly Line[] = [
    job.stageIndex === 0 ? [] : [span(done.glyph, done.style), span(` ${job.stageIndex} done`)],
    named[job.stageIndex] ?? [],
    job.stageIndex >= named.length - 1 ? [] : [span(`· ${named.length - 1 - job.stageIndex} to come`, 'dim')],
  ]
  const room = width - 2
  const isWide = named.reduce((sum, line) => sum + lineWidth(line) + 2, -2) > room
  const row = cut([span('  '), ...joined(isWide ? counted : named, room, '  ')], width)
  const progress = progressLine(view, width - 4, nowMs)
  return progress.length === 0 ? [row] : [row, cut([span('    '), ...progress], width)]
}

const tookLine = ({ stageMs }: LiveView, stage: string, mark: Mark): Line => {
  const ms = stageMs.get(stage)
  return ms === undefined || mark !== done ? [] : [span(tookText(ms), 'dim')]
}

/** How far the stage at work is: nothing of it is made up where the stage has not told it. */
const progressLine = (view: LiveView, width: number, nowMs: number): Line => {
  const { job, progress, pace } = view
  const mark = markOf(view, job.stageIndex)
  const word: Line = mark.word === undefined || job.stage === null ? [] : [span(mark.word, mark.style)]
  if (progress === null || job.stage === null) return joined([word], width)
  const { done: count, total, unit } = progress
  const rate = job.state === 'running' ? perSecond(pace, nowMs) : null
  const parts: readonly Line[] = [
    [span(`${countText(count)}${total === null ? '' : `/${countText(total)}`} ${unit}`)],
    word,
    rate === null ? [] : [span(rateText(rate))],
    rate === null || total === null || total <= count ? [] : [span(`${durationText((total - count) / rate)} left`)],
  ]
  const barColumns = width < 44 ? 10 : 24
  if (total === null || width < 24) return joined(parts, width)
  return [...progressBar(count, total, barColumns), span(' '), ...joined(parts, width - barColumns - 1)]
}
