import type { JobDocument } from '../../../domain/job/document.ts'
import { styleOfState } from '../stateColour.ts'
import { cut, joined, type Line, lineWidth, span } from './line.ts'
import { clockText } from './timeText.ts'

const handleLength = 12
const nameRoomMin = 8

/** Which job it is and its state, with the time it was worked on to the right. */
export const headLine = (job: JobDocument, width: number, nowMs: number): Line => {
  const clock = clockText(workedSeconds(job, nowMs))
  const worked = [span(width < 60 ? clock : `${clock} at work`)]
  const room = width - lineWidth(worked) - 2
  const left = joined(
    [[span(job.jobId.slice(0, handleLength), 'bold')], [span(job.state, styleOfState(job.state) ?? 'cyan')]],
    room,
  )
  const nameRoom = room - lineWidth(left)
  const name: Line = [span(' · ', 'dim'), span(`${job.projectId}/${job.type}`)]
  const shown = nameRoom < nameRoomMin ? left : [...left, ...cut(name, nameRoom)]
  return cut([...shown, span(' '.repeat(Math.max(1, width - lineWidth(shown) - lineWidth(worked)))), ...worked], width)
}

/** The owner's last event is as far as the log knows; it is believed to be at work since, for as long as its lease. */
const workedSeconds = ({ state, budget, heartbeatAt, leaseExpiresAt }: JobDocument, nowMs: number): number => {
  const isWorked = state === 'running' || state === 'pausing' || state === 'cancelling'
  if (!isWorked || heartbeatAt === null || leaseExpiresAt === null) return budget.durationSeconds
  const sinceMs = Math.min(nowMs, Date.parse(leaseExpiresAt)) - Date.parse(heartbeatAt)
  return budget.durationSeconds + Math.max(0, sinceMs) / 1_000
}
