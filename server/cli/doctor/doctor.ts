import { EngineError } from '../../../domain/errors.ts'
import type { Workplace } from '../../engine.ts'
import type { Call, Run } from '../call.ts'
import { exitCode } from '../exitCode.ts'
import { troubleLog } from '../logText.ts'
import { plainText } from '../plainText.ts'
import type { Shell } from '../shell.ts'
import { colouredVerdict } from '../stateColour.ts'
import { storeIsThere } from '../store.ts'
import { type Check, type Checked, fail } from './check.ts'
import { checkFolder } from './checkFolder.ts'
import { checkJobs } from './checkJobs.ts'
import { checkMachine } from './checkMachine.ts'
import { checkProviders } from './checkProviders.ts'
import { checkStore } from './checkStore.ts'
import { checkViews } from './checkViews.ts'

const checks: readonly Check[] = [checkMachine, checkFolder, checkStore, checkViews, checkJobs, checkProviders]

/** Looks at everything that jobs need, and says what to do about what is wrong. No job changes by it. */
export const doctor: Run = async (call) => {
  const { workplace, unopened } = await opened(call)
  const found: Checked[] = []
  try {
    for (const check of checks) found.push(...(await orFailed(check, call, workplace)))
  } finally {
    await workplace?.close()
  }
  found.push(...unopened)
  const text = call.json ? `${JSON.stringify({ items: found, nextCursor: null })}\n` : found.map((each) => lineOf(each, call.shell)).join('')
  await call.shell.stdout.write(text)
  return found.some(({ verdict }) => verdict === 'fail') ? exitCode.broken : exitCode.done
}

/** A store that cannot be opened is a finding like any other. */
const opened = async (call: Call): Promise<{ workplace: Workplace | null; unopened: readonly Checked[] }> => {
  if (!(await storeIsThere(call))) return { workplace: null, unopened: [] }
  try {
    const workplace = await call.open(call.config, troubleLog(call.shell.stderr))
    return { workplace, unopened: [] }
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    return { workplace: null, unopened: [fail('log', error.message, 'nothing can run on this store until it opens')] }
  }
}

const orFailed = async (check: Check, call: Call, workplace: Workplace | null): Promise<readonly Checked[]> => {
  try {
    return await check(call, workplace)
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    return [fail('store', error.message, 'look at the message, mend the store, and ask again')]
  }
}

const lineOf = ({ check, verdict, message, advice }: Checked, shell: Shell): string => {
  const then = advice === null ? '' : `: ${advice}`
  return `${colouredVerdict(verdict, shell)}${' '.repeat(6 - verdict.length)}${check.padEnd(16)}  ${plainText(message + then)}\n`
}
