import type { JobDocument } from '../../../domain/job/document.ts'
import type { Engine } from '../../engine.ts'
import { asker } from '../asker.ts'
import type { Call, Run } from '../call.ts'
import { exitCode } from '../exitCode.ts'
import { fillOut } from '../fillOut.ts'
import { interruption } from '../interruption.ts'
import { options } from '../options.ts'
import type { TextOut } from '../shell.ts'
import { withWorkplace } from '../store.ts'
import { UsageError } from '../usageError.ts'
import { type Children, children } from './children.ts'
import type { Evidence } from './comparison.ts'
import { type DemoFolder, freshFolder } from './demoFolder.ts'
import { demoSubmission, writeInputs } from './demoInputs.ts'
import { startProvider, startWorker, stopWorker } from './demoProcesses.ts'
import { demoProgress } from './demoProgress.ts'
import { demoReport } from './demoReport.ts'
import { readDataset } from './demoDataset.ts'
import { patienceMs, price } from './demoSetting.ts'
import { killedText, openingText, reportText, startText, takeoverText } from './demoText.ts'
import { readProviderLog } from './providerLog.ts'
import { watched } from './watched.ts'

/** What every act of the demo needs. */
type Stage = {
  readonly folder: DemoFolder
  readonly processes: Children
  readonly signal: AbortSignal
  /** Where the demo is told: beside the document with `--json`. */
  readonly out: TextOut
  readonly startedAtMs: number
}

/**
 * A dataset made with a paid provider, whose worker is killed amid the calls: everything in processes of its own, as it
 * would be for real, and then the provider's own log beside the ledger. Exits 0 only if every statement held.
 */
export const demo: Run = async (call) => {
  refusePlaces(call)
  const startedAtMs = performance.now()
  const folder = await freshFolder(call.given(options.demoDir))
  const processes = children(folder.processLog)
  const stop = interruption(call.shell, '\nStopping the demo.')
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(patienceMs)])
  const out = call.json ? call.shell.stderr : call.shell.stdout
  try {
    return await play({ folder, processes, signal, out, startedAtMs }, call)
  } catch (error) {
    if (stop.signal.aborted) return exitCode.interrupted
    if (!signal.aborted) throw error
    throw new Error(`the demo is not done after ${patienceMs / 1_000} s: see ${folder.processLog}`, { cause: error })
  } finally {
    await processes.end()
    stop.end()
  }
}

/** The demo's store is always one of its own, so that it can never meet real work. */
const refusePlaces = ({ typed }: Call): void => {
  for (const option of [options.store, options.artifacts, options.data, options.config]) {
    if (typed(option) === undefined) continue
    const given = `--${option.name}`
    throw new UsageError('invalid_option', `the demo keeps to a folder of its own: give it with --dir, not ${given}`, {
      option: given,
    })
  }
}

const play = async (stage: Stage, call: Call): ReturnType<Run> => {
  const { folder, out } = stage
  const provider = await startProvider(stage.processes, folder)
  const { baseUrl } = provider
  const config = await writeInputs(folder, baseUrl)

  return withWorkplace({ ...call, config }, async ({ engine }) => {
    const job = await engine.submit(await demoSubmission(folder, baseUrl), asker())
    await out.write(openingText({ folder, provider: provider.process.pid, baseUrl, job }))

    const killed = await killAmidCalls(stage, engine, job)
    await finish(stage, engine, job, killed)
    provider.process.kill('SIGTERM')
    await provider.process.ended

    const evidence = await evidenceOf(engine, job, folder)
    const seconds = Math.round(performance.now() - stage.startedAtMs) / 1_000
    const report = demoReport(evidence, { killedPid: killed.pid, folder: folder.path, seconds })
    if (call.json) await call.shell.stdout.write(`${JSON.stringify(report)}\n`)
    await out.write(reportText(report, { examples: evidence.dataset.examples, folder, columns: out.columns, program: call.shell.program }))
    return report.comparison.holds ? exitCode.done : exitCode.broken
  })
}

/** The results are filled in here, as `run --out` would. */
const evidenceOf = async (engine: Engine, { jobId }: JobDocument, folder: DemoFolder): Promise<Evidence> => {
  const job = await engine.status(jobId)
  if (job.state === 'succeeded') await fillOut(engine, jobId, folder.results)
  return {
    calls: await readProviderLog(folder.callLog),
    ledger: await engine.ledger(jobId),
    job,
    dataset: await readDataset(folder.results),
    audit: await engine.audit(jobId),
    price,
  }
}

type Killed = { readonly pid: number; readonly atMs: number; readonly leaseToken: number | null }

const killAmidCalls = async (stage: Stage, engine: Engine, { jobId }: JobDocument): Promise<Killed> => {
  const { out, signal } = stage
  const worker = await startWorker(stage.processes, stage.folder)
  await out.write(startText(worker.pid))
  const progress = demoProgress(out)
  const job = await watched({ engine, jobId, worker, signal, see: progress.show, enough: isHalfAnswered })
  worker.kill('SIGKILL')
  const atMs = performance.now()
  progress.end()
  await worker.ended
  await out.write(killedText(worker.pid, await engine.ledger(jobId)))
  return { pid: worker.pid, atMs, leaseToken: job.leaseToken }
}

const isHalfAnswered = ({ stage, progress }: JobDocument): boolean =>
  stage === 'generate' && progress !== null && progress.total !== null && progress.done * 2 >= progress.total

const finish = async (stage: Stage, engine: Engine, { jobId }: JobDocument, killed: Killed): Promise<void> => {
  const { out, signal } = stage
  const worker = await startWorker(stage.processes, stage.folder)
  await out.write(startText(worker.pid))
  const progress = demoProgress(out)
  let hasTakenOver = false
  const see = (job: JobDocument): void => {
    if (!hasTakenOver && job.leaseToken !== null && job.leaseToken !== killed.leaseToken) {
      hasTakenOver = true
      void out.write(takeoverText((performance.now() - killed.atMs) / 1_000))
    }
    if (hasTakenOver) progress.show(job)
  }
  await watched({ engine, jobId, worker, signal, see, enough: () => false })
  progress.end()
  await stopWorker(worker)
}
