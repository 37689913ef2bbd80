import type { JobDocument } from '../../../domain/job/document.ts'
import type { Engine } from '../../engine.ts'
import type { JobShown } from '../jobShown.ts'
import type { Paint } from '../paint.ts'
import { caughtUp } from './caughtUp.ts'
import { frame, lastFrame, type Space } from './frame.ts'
import { type LiveView, viewOf } from './liveView.ts'
import type { Screen } from './screen.ts'

const redrawMs = 100

/** Draws the job again as it gets on, at most ten times a second. In the end its stages and last events are left standing. */
export const liveJob = (engine: Pick<Engine, 'events'>, screen: Screen, paint: Paint): JobShown => {
  let latest: JobDocument | null = null
  let view: LiveView | null = null
  let isEnded = false
  let wake = (): void => {}

  const space = (): Space => ({
    // Some terminals go on to the next row with the last column, and the cursor rests below the block.
    columns: screen.columns - 1,
    rows: screen.rows - 1,
    nowMs: Date.now(),
    paint,
  })
  const draw = async (framed: typeof frame): Promise<void> => {
    if (latest === null) return
    const current = view === null ? viewOf(latest) : { ...view, job: latest }
    // The document is shown also while its events cannot be had.
    view = await caughtUp(engine, current, Date.now()).catch(() => current)
    await screen.draw(framed(view, space()))
  }
  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, redrawMs)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  const drawing = async (): Promise<void> => {
    while (!isEnded) {
      await draw(frame)
      if (!isEnded) await pause()
    }
    await draw(lastFrame)
  }
  // Shown beside the work, so its trouble is not the work's.
  const drawn = drawing().catch(() => {})

  return {
    show(job) {
      latest = job
    },
    async end() {
      isEnded = true
      wake()
      await drawn
      screen.leave()
    },
  }
}
