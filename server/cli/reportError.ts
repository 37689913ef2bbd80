import { EngineError } from '../../domain/errors.ts'
import { adviceFor } from './advice.ts'
import { type ExitCode, exitCode } from './exitCode.ts'
import { plainText } from './plainText.ts'
import type { Shell } from './shell.ts'

const faultCode = 'internal'

/** A bug, or a world that does not work. Every other code is a rule that said no. */
const faults: ReadonlySet<string> = new Set([
  faultCode,
  'store_unavailable',
  'artifact_corrupt',
  'append_too_large',
  'revision_conflict',
])

const exitCodeOf = (error: EngineError): ExitCode =>
  faults.has(error.code) ? exitCode.fault : exitCode.rejected

/**
 * Shows what went wrong: one line and what to do next on stderr, or one JSON document on stdout. A stack is shown
 * only with KNOVARYN_DEBUG: it tells a user nothing.
 */
export const reportError = async (thrown: unknown, shell: Shell, json: boolean): Promise<ExitCode> => {
  const error = thrown instanceof EngineError ? thrown : unexpected(thrown)
  if ((shell.env['KNOVARYN_DEBUG'] ?? '') !== '' && thrown instanceof Error) {
    await shell.stderr.write(`${thrown.stack ?? ''}\n`)
  }
  const { code, message, details } = error
  if (json) {
    // Where stdout itself is what cannot be written, stderr still says why.
    const written = await shell.stdout
      .write(`${JSON.stringify({ error: { code, message, details } })}\n`)
      .catch(() => null)
    if (written !== null) return exitCodeOf(error)
  }
  const lines = [`knovaryn: ${plainText(message)}`, ...adviceFor(error, shell.program).map((line) => `  ${plainText(line)}`)]
  await shell.stderr.write(`${lines.join('\n')}\n`)
  return exitCodeOf(error)
}

const unexpected = (thrown: unknown): EngineError => {
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return new EngineError(faultCode, `unexpected: ${message}`)
}
