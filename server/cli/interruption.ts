import type { Shell } from './shell.ts'
import { exitCode } from './exitCode.ts'

// npm and npx pass on a Ctrl-C that the terminal has sent to the whole group already: one key press, two signals.
const sameKeyPressMs = 300

/** A first SIGINT or SIGTERM aborts the signal, a second one ends the process at once. */
export const interruption = (shell: Shell, announce: string): { signal: AbortSignal; end(): void } => {
  const controller = new AbortController()
  let firstAt = 0
  const end = shell.onSignal(() => {
    if (controller.signal.aborted) {
      if (Date.now() - firstAt >= sameKeyPressMs) shell.exitNow(exitCode.interrupted)
      return
    }
    firstAt = Date.now()
    void shell.stderr.write(`${announce}\n`)
    controller.abort()
  })
  return { signal: controller.signal, end }
}
