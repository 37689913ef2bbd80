import type { Shell } from './shell.ts'
import { exitCode } from './exitCode.ts'

// npm and npx pass on a Ctrl-C that the terminal has sent to the whole group already: one key press, two signals.
const sameKeyPressMs = 300

/** A first SIGINT or SIGTERM aborts the signal, a second one ends the process at once. */
export const interruption = (
  shell: Shell,
  announcement: string,
  announce: (text: string) => void = (text) => void shell.stderr.write(`${shell.stderr.isTerminal ? '\n' : ''}${text}\n`),
): { signal: AbortSignal; end(): void } => {
  const controller = new AbortController()
  let firstAt = 0
  const end = shell.onSignal(() => {
    if (controller.signal.aborted) {
      if (Date.now() - firstAt >= sameKeyPressMs) shell.exitNow(exitCode.interrupted)
      return
    }
    firstAt = Date.now()
    announce(announcement)
    controller.abort()
  })
  return { signal: controller.signal, end }
}
