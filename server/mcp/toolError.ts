import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { EngineError } from '../../domain/errors.ts'
import type { RejectionCode } from '../../domain/rejection.ts'
import { preview } from '../../domain/strictJson.ts'

const messageCharactersMax = 2_000

export type Fault = (what: string, error: unknown) => void

type ServerCode =
  | 'invalid_input'
  | 'unpriced_model'
  | 'ambiguous_handle'
  | 'forbidden'
  | 'forbidden_provider'
  | 'forbidden_base_url'
  | 'artifact_missing'
  | 'revision_conflict'
  | 'append_too_large'
  | FaultCode

const look = 'Look at the job with knovaryn_get_job: its state says what is possible.'
const later = 'Call again in a while; nothing acknowledged is lost.'

/** What an agent can do about each refusal. */
const nextSteps: Readonly<Record<RejectionCode | ServerCode, string>> = {
  invalid_input: 'Change what is named, and call again.',
  unpriced_model: 'Name a model that has a price; or name it in allowUnpriced, if its cost may go uncounted.',
  ambiguous_handle: 'Give the whole jobId, as knovaryn_list_jobs shows it.',
  forbidden: 'Ask whoever runs the server for a token that allows this.',
  forbidden_provider: 'Name one of the providers that are known.',
  forbidden_base_url: 'Name the provider alone.',
  artifact_missing: 'Submit the files again.',
  revision_conflict: 'Others wrote to the job at the same moment: call again.',
  append_too_large: 'Submit less at once.',
  job_not_found: 'knovaryn_list_jobs shows the jobs that there are.',
  job_state: look,
  lease_lost: look,
  not_due: look,
  calls_open: later,
  pause_requested: look,
  cancel_requested: look,
  wrong_stage: look,
  budget_exhausted: 'knovaryn_resume_job with a higher total for the limit that is named.',
  overrun: 'A person is to look at it (`knovaryn job ledger`); then knovaryn_resume_job with higher limits.',
  unreconciled_calls: 'A person says what became of the held calls: `knovaryn job ledger`, `knovaryn job reconcile`.',
  limit_lower: 'Give each limit as a new total that is not below the old one, or null to lift it.',
  policy_block: 'Change what is asked, and submit it as a new job.',
  idempotency_conflict: 'The key has a job with other content: look at that job, or submit with another idempotencyKey.',
  call_in_flight: later,
  call_not_held: look,
  newer_schema: 'The job was written by a newer program: ask whoever runs the server to update it.',
  store_unavailable: later,
  artifact_corrupt: 'Tell whoever runs the server: `knovaryn job audit` names what is damaged.',
  internal: 'Tell whoever runs the server: its log says more.',
}

const isKnown = (code: string): code is RejectionCode | ServerCode => Object.hasOwn(nextSteps, code)

type FaultCode = 'store_unavailable' | 'artifact_corrupt' | 'internal'

/** Ours to know: whoever asked is told this alone. */
const faults: Readonly<Record<FaultCode, string>> = {
  store_unavailable: 'the store cannot answer now',
  artifact_corrupt: 'a stored file is damaged',
  internal: 'something went wrong here',
}

const isFault = (code: string): code is FaultCode => Object.hasOwn(faults, code)

/** What went wrong as the result of a tool: `{ code, message, next }` as its text. `fault` is told what is ours to mend. */
export const toolError = (tool: string, thrown: unknown, fault: Fault): CallToolResult => {
  const error = thrown instanceof EngineError ? thrown : new EngineError('internal', faults.internal)
  const { code } = error
  const message = isFault(code) ? faults[code] : preview(error.message, messageCharactersMax)
  if (isFault(code)) fault(`MCP tool ${tool}`, thrown)
  const next = nextSteps[isKnown(code) ? code : 'invalid_input']
  return { isError: true, content: [{ type: 'text', text: JSON.stringify({ code, message, next }) }] }
}
