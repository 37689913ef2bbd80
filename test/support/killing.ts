import type { randomFrom } from '../contract/seededRandom.ts'
import { isTerminal } from '../../domain/job/job.ts'
import type { OpenLog } from './killingLog.ts'
import type { Running } from './processes.ts'
import type { SeenCall } from './scriptedProvider/script.ts'
import { until } from './until.ts'

export type Killed = {
  /** What the worker had done when the wait for its end began. */
  readonly at: 'starting' | 'claimed' | 'calling'
  readonly afterMs: number
  /** Sends of the killed worker that the log has neither settled nor failed. */
  readonly openCalls: number
  /** Answers the provider had given by then that the log does not know: their append was pending, or not even begun. */
  readonly unrecordedAnswers: number
}

/**
 * Works a job with one worker after the other, each killed with SIGKILL at an instant drawn from the seed, until so
 * many were killed or the job has ended. `afterEach` looks at what a kill has left.
 */
export const killWorkers = async (
  job: { readonly jobId: string; readonly log: OpenLog },
  drawn: ReturnType<typeof randomFrom>,
  plan: {
    readonly kills: number
    readonly withinMs: number
    start(): Running
    answeredByProvider(): Promise<readonly SeenCall[]>
    afterEach?(): Promise<void>
  },
): Promise<readonly Killed[]> => {
  const killed: Killed[] = []
  const { jobId, log } = job
  while (killed.length < plan.kills && !isTerminal(log.job(jobId)?.state ?? 'queued')) {
    const tokenBefore = log.job(jobId)?.lastToken ?? 0
    const worker = plan.start()
    // Of twelve one dies while it starts, two between claim and first call, and the others among their calls.
    const die = drawn.below(12)
    const afterMs = drawn.below(plan.withinMs)
    if (die > 0) await worker.line(/claimed job/)
    if (die > 2) {
      await until('a first reservation', () => hasReserved(log, jobId, tokenBefore) || worker.hasExited(), { everyMs: 2 })
    }
    await waitExactly(afterMs)
    await worker.kill()
    const now = log.job(jobId)
    const owned = now !== null && now.lease !== null && now.lease.token > tokenBefore
    const openCalls = owned ? Object.keys(now.open).length : 0
    if (!isTerminal(now?.state ?? 'queued')) {
      const answered = openCalls === 0 ? [] : await plan.answeredByProvider()
      const unrecordedAnswers = Object.values(now?.open ?? {}).filter(({ callKey, reservedAt }) =>
        answered.some((call) => call.idempotencyKey === callKey && call.receivedAt >= Date.parse(reservedAt)),
      ).length
      killed.push({ at: die === 0 ? 'starting' : die > 2 ? 'calling' : 'claimed', afterMs, openCalls, unrecordedAnswers })
    }
    await plan.afterEach?.()
  }
  return killed
}

const hasReserved = (log: OpenLog, jobId: string, tokenBefore: number): boolean => {
  const job = log.job(jobId)
  if (job === null || job.lastToken <= tokenBefore) return false
  return Object.keys(job.open).length > 0 || isTerminal(job.state)
}

const waitExactly = async (ms: number): Promise<void> => {
  const since = performance.now()
  await until(`${ms} ms to pass`, () => performance.now() - since >= ms, { everyMs: 1 })
}

/** Where the kills hit, for people to read. */
export const killsText = (killed: readonly Killed[]): string => {
  const at = (where: Killed['at']): number => killed.filter((each) => each.at === where).length
  const open = killed.filter(({ openCalls }) => openCalls > 0)
  const reservations = open.reduce((sum, { openCalls }) => sum + openCalls, 0)
  const answers = killed.filter(({ unrecordedAnswers }) => unrecordedAnswers > 0).length
  return (
    `${killed.length} kills (${at('starting')} while starting, ${at('claimed')} soon after the claim, ${at('calling')} ` +
    `among calls): ${open.length} with an open reservation (${reservations} in all), ` +
    `${answers} with an answer the provider had given and the log did not have`
  )
}
