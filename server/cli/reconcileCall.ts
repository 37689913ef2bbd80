import type { Reconciliation } from '../engine.ts'
import { asker } from './asker.ts'
import type { Call, Run } from './call.ts'
import { exitCode } from './exitCode.ts'
import { options } from './options.ts'
import { present } from './present.ts'
import { showJob } from './showJob.ts'
import { withEngine } from './store.ts'
import { UsageError } from './usageError.ts'

/** Closes a held call by what the provider's own bill says. */
export const reconcileCall: Run = async (call) => {
  const reconciliation = reconciliationOf(call)
  return withEngine(call, async (engine) => {
    await showJob(await engine.reconcile(call.args[0] ?? '', reconciliation, asker()), call)
    return exitCode.done
  })
}

const reconciliationOf = ({ given }: Call): Reconciliation => {
  const number = given(options.call)
  const billed = given(options.billed) ?? false
  const notBilled = given(options.notBilled) ?? false
  if (number === undefined) throw missing('say which call with --call: its number in `knovaryn job ledger`')
  if (billed === notBilled) throw missing('say either --billed or --not-billed, by the provider’s own bill')
  const charged = {
    ...present('costUsd', given(options.costUsd)),
    ...present('inputTokens', given(options.inputTokens)),
    ...present('outputTokens', given(options.outputTokens)),
  }
  if (notBilled && Object.keys(charged).length > 0) {
    throw missing('a call that was not billed has no cost and no tokens: leave them out, or say --billed')
  }
  return { call: number, billed, ...charged, ...present('note', given(options.note)) }
}

const missing = (message: string): UsageError => new UsageError('missing_option', message)
