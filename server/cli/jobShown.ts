import type { JobDocument } from '../../domain/job/document.ts'
import type { Engine } from '../engine.ts'
import type { Call } from './call.ts'
import { changeTeller } from './changeTeller.ts'
import { liveJob } from './live/liveJob.ts'
import { type Screen, screen } from './live/screen.ts'
import { painter } from './paint.ts'
import type { Shell, TextOut } from './shell.ts'

/** How a job is getting on, shown beside its result. */
export type JobShown = {
  show(job: JobDocument): void
  /** Shows the last one, and leaves what is to be read above the result. */
  end(): Promise<void>
}

/** A call in which what is written on a terminal's standard error stands above what is drawn there. */
export type ScreenCall = Call & { readonly shell: Shell & { readonly stderr: Screen } }

export const withScreen = (call: Call): ScreenCall => ({ ...call, shell: { ...call.shell, stderr: screen(call.shell.stderr) } })

/** Drawn on a terminal; elsewhere a line on every change of state or stage, and now and then. */
export const jobShown = (engine: Engine, { shell }: ScreenCall): JobShown =>
  shell.stderr.isTerminal ? liveJob(engine, shell.stderr, painter(shell.stderr, shell.env)) : lineOnChange(shell.stderr)

const lineOnChange = (out: TextOut): JobShown => {
  const changeOf = changeTeller()
  return {
    show(job) {
      const line = changeOf(job)
      if (line !== null) void out.write(line)
    },
    end: async () => {},
  }
}
