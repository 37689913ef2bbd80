import { sha256 } from '../../adapters/system/sha256.ts'
import { jobIdOf } from '../../domain/ids.ts'
import { usd } from '../../domain/money.ts'
import { isTerminal } from '../../domain/job/job.ts'
import { worstCaseCost, worstCaseTokens } from '../../domain/pricing.ts'
import type { Content } from '../../domain/job/events.ts'
import type { ArtifactStore } from '../../domain/ports/artifactStore.ts'
import type { CallRequest, Provider } from '../../domain/ports/provider.ts'
import type { Engine } from '../../server/engine.ts'
import type { SharedStores } from './gatedStores.ts'
import { essayPrompt, maxOutputTokens } from './jobs.ts'
import type { JobRecord } from './jobRecord.ts'
import type { Line, Plan } from './plans.ts'
import type { Process } from './process.ts'
import type { SimulatedProvider } from './provider.ts'
import { bookedUsd, type Manner, model, prices, truthOf } from './truth.ts'
import type { Watch } from './watch.ts'

type Broken = string | null

/** Failures that a line may end with although its answer would have been fine: its tries were used up. */
const passingFailures: ReadonlySet<string> = new Set([
  'timeout',
  'connection_cut',
  'connection_refused',
  'provider_unavailable',
  'rate_limited',
  'in_progress',
])

export const everyJobHasEnded = (record: JobRecord): Broken =>
  record.job !== null && isTerminal(record.job.state) ? null : `it is ${record.job?.state ?? 'nothing'}`

const noCallIsOpen = (record: JobRecord): Broken => {
  const open = [...record.calls.values()].filter((call) => call.state === 'reserved')
  return open.length === 0 ? null : `call ${open.map((call) => call.call).join(', ')} is open at the end`
}

const everyCallIsInTheBooks = (record: JobRecord): Broken => {
  const settled = [...record.calls.values()].filter((call) => call.state === 'settled')
  const unsent = settled.filter((call) => (record.keys.get(call.callKey)?.sends.length ?? 0) === 0)
  return unsent.length === 0 ? null : `call ${unsent.map((call) => call.call).join(', ')} is settled and was never sent`
}

const asked = (content: string): CallRequest => ({ model, messages: [{ role: 'user', content }], maxOutputTokens })

const expectedLine = (line: Line, manner: Manner, provider: Provider): string => {
  const request = asked(line.prompt)
  const truth = truthOf(request, manner)
  if (truth.refusal !== null) {
    return JSON.stringify({ id: line.id, error: { code: truth.refusal, message: `${truth.refusal} (simulated)` } })
  }
  const price = prices.models[model]
  const worst = price === undefined ? 0n : worstCaseCost(worstCaseTokens(request, provider), price)
  const costUsd = bookedUsd(truth, usd(worst))
  const isCached = truth.reported !== null && truth.reported.cachedInputTokens > 0
  return JSON.stringify({ id: line.id, text: truth.text, usage: truth.reported, costUsd, ...(isCached ? { cached: true } : {}) })
}

const isPassingFailure = (text: string, line: Line): boolean => {
  const found = JSON.parse(text) as { id: string; error?: { code: string } }
  return found.id === line.id && found.error !== undefined && passingFailures.has(found.error.code)
}

/** The results are those of an undisturbed run, in the order of the input, but for lines whose tries were used up. */
const resultsAreRight = async (
  plan: Plan,
  record: JobRecord,
  deps: { engine: Engine; artifacts: ArtifactStore; manner: Manner; provider: Provider },
): Promise<Broken> => {
  const { manner, provider } = deps
  if (record.job?.state !== 'succeeded') return null
  if (plan.kind === 'essay') {
    const output = (await read(record.job.output, record.job.spec.projectId, deps.artifacts)) as { texts: string[] }
    const { topic, parts } = plan.input
    const texts = Array.from({ length: parts }, (_, index) => truthOf(asked(essayPrompt(topic, index + 1)), manner).text)
    return JSON.stringify(output) === JSON.stringify({ texts }) ? null : `its output is ${JSON.stringify(output).slice(0, 300)}`
  }
  const chunks: Uint8Array[] = []
  for await (const { content } of deps.engine.output(record.jobId)) chunks.push(content)
  const rows = new TextDecoder().decode(Buffer.concat(chunks)).trimEnd().split('\n')
  if (rows.length !== plan.lines.length) return `${rows.length} results for ${plan.lines.length} lines`
  for (const [index, line] of plan.lines.entries()) {
    const row = rows[index] ?? ''
    const expected = expectedLine(line, manner, provider)
    if (row !== expected && !isPassingFailure(row, line)) return `result ${index} is ${row.slice(0, 300)}, not ${expected.slice(0, 300)}`
  }
  return null
}

const read = async (content: Content | null, projectId: string, artifacts: ArtifactStore): Promise<unknown> => {
  if (content === null) return null
  if ('json' in content) return content.json
  const bytes = await artifacts.get(projectId, content.artifact.sha256)
  return bytes === null ? null : JSON.parse(new TextDecoder().decode(bytes))
}

/** Judges what is there when everything has ended and everybody has left, through the eyes of a new process. */
export const judgeTheEnd = async (world: {
  readonly watch: Watch
  readonly plans: readonly Plan[]
  readonly shared: SharedStores
  readonly manner: Manner
  readonly provider: SimulatedProvider
  readonly newcomer: Process
}): Promise<void> => {
  const { watch, plans, newcomer, manner } = world
  const { engine } = newcomer.workplace
  for (const { name, equal, differs } of await engine.verifyProjections([])) {
    if (!equal) watch.broken('viewsEqualAFreshFold', `view ${name}: ${JSON.stringify(differs)}`)
  }
  for (const record of watch.records.values()) {
    watch.note('noCallIsOpen', record, noCallIsOpen(record))
    watch.note('everyCallIsInTheBooks', record, everyCallIsInTheBooks(record))
    watch.count(`ended ${record.job?.state}`)
  }
  const provider = world.provider.at(newcomer.host)
  for (const plan of plans) {
    const { projectId = 'default', idempotencyKey = '' } = plan.submission
    const record = watch.records.get(jobIdOf(projectId, idempotencyKey, sha256))
    if (record === undefined) watch.broken('whatIsSubmittedIsThere', `job "${idempotencyKey}" is not there`)
    else watch.note('resultsAreRight', record, await resultsAreRight(plan, record, { engine, artifacts: world.shared.artifacts, manner, provider }))
  }
}
