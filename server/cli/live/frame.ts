import type { Paint } from '../paint.ts'
import { headLine } from './headLine.ts'
import { cut, type Line, painted, span } from './line.ts'
import type { LiveView } from './liveView.ts'
import { budgetLines, callsLine, estimateLine } from './moneyLines.ts'
import type { Note } from './noteOf.ts'
import { nameWidth, stageLines, stagesRow } from './stageLines.ts'
import { askedLine, heldLine, triesLine, whyLine, workerLine } from './workLines.ts'

export type Space = { readonly columns: number; readonly rows: number; readonly nowMs: number; readonly paint: Paint }

/** How much of a view is shown. */
type Layout = {
  readonly gaps: boolean
  readonly stages: 'lines' | 'row'
  readonly money: 'all' | 'some' | 'none'
  readonly notes: number
}

/** From all there is to the least: the first that fits is shown. */
const layouts: readonly Layout[] = [
  { gaps: true, stages: 'lines', money: 'all', notes: 6 },
  { gaps: true, stages: 'lines', money: 'all', notes: 3 },
  { gaps: false, stages: 'lines', money: 'all', notes: 3 },
  { gaps: false, stages: 'row', money: 'all', notes: 3 },
  { gaps: false, stages: 'row', money: 'some', notes: 1 },
  { gaps: false, stages: 'row', money: 'some', notes: 0 },
  { gaps: false, stages: 'row', money: 'none', notes: 0 },
]

/** The view in at most so many rows, none wider than the columns. */
export const frame = (view: LiveView, space: Space): readonly string[] => {
  let lines: readonly Line[] = []
  for (const layout of layouts) {
    lines = linesOf(view, space, layout)
    if (lines.length <= space.rows) break
  }
  return lines.slice(0, space.rows).map((line) => painted(line, space.paint))
}

/** What is left standing above the summary of a job: what that does not say. */
export const lastFrame = (view: LiveView, { columns, nowMs, paint }: Space): readonly string[] =>
  [...sections(true, [stageLines(view, columns, nowMs), noteLines(view.notes.slice(-6), columns)]), []].map((line) => painted(line, paint))

const linesOf = (view: LiveView, { columns, nowMs }: Space, layout: Layout): readonly Line[] =>
  sections(layout.gaps, [
    [headLine(view.job, columns, nowMs)],
    layout.stages === 'lines' ? stageLines(view, columns, nowMs) : stagesRow(view, columns, nowMs),
    labelledLines(view, { columns, nowMs }, layout),
    noteLines(layout.notes === 0 ? [] : view.notes.slice(-layout.notes), columns),
  ])

const sections = (gaps: boolean, all: readonly (readonly Line[])[]): readonly Line[] =>
  all.filter(({ length }) => length > 0).flatMap((lines) => (gaps ? [[], ...lines] : lines))

const labelledLines = (view: LiveView, { columns, nowMs }: Pick<Space, 'columns' | 'nowMs'>, { money }: Layout): readonly Line[] => {
  const { job } = view
  const labelWidth = nameWidth(view) + 2
  const width = columns - labelWidth - 4
  const [bar = [], legend = []] = budgetLines(job, width)
  const rows: readonly (readonly [label: string, line: Line])[] = [
    ['why', whyLine(job, width)],
    ...(money === 'none' ? [] : ([['money', bar]] as const)),
    ...(money === 'all'
      ? ([['', legend], ['calls', callsLine(job, width)], ['estimate', estimateLine(job, width)]] as const)
      : []),
    ['worker', workerLine(job, width, nowMs)],
    ['asked', askedLine(job)],
    ['tries', triesLine(job, width)],
    ['held', heldLine(job, width)],
  ]
  return rows
    .filter(([, line]) => line.length > 0)
    .map(([label, line]) => cut([span(`    ${label.padEnd(labelWidth)}`, 'dim'), ...line], columns))
}

const noteLines = (notes: readonly Note[], columns: number): readonly Line[] =>
  notes.map(({ at, text, style }) => cut([span(`  ${at.slice(11, 19)}Z  `, 'dim'), span(text, style)], columns))
