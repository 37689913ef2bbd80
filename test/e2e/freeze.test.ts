import { writeFile } from 'node:fs/promises'
import { afterEach, expect, test } from 'vitest'
import { isTerminal, terminalStates } from '../../domain/job/job.ts'
import { batchFolder } from '../support/batchFiles.ts'
import { openLog } from '../support/killingLog.ts'
import { freezeBetweenWrites } from '../support/processesFreeze.ts'
import { killAll, startKnovaryn, startLockHolder } from '../support/processes.ts'
import { gatedJob, gatedJobModule, holdStep, letGo } from '../support/processesGates.ts'
import type { Script } from '../support/scriptedProvider/script.ts'
import { startScriptedProvider } from '../support/scriptedProvider/startScriptedProvider.ts'
import { until } from '../support/until.ts'
import { answersAfter, workplaceOn } from '../support/workplaceOn.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await killAll()
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

const calls = 5

/** Two workers with a key each, so that the provider can tell them apart, over a job of five gated calls. */
const twoWorkers = async (script: Script) => {
  const provider = await startScriptedProvider(script)
  const folder = await batchFolder('')
  const providers = { openai: { baseUrl: provider.baseUrl, apiKeyEnv: 'TEST_KEY' } }
  await writeFile(folder.at('config.json'), JSON.stringify({ providers }))
  const { default: definition } = (await import(gatedJobModule)) as { default: never }
  const place = await workplaceOn(`sqlite:${folder.at('store')}`, { providers, definitions: [definition] })
  const log = openLog(folder.at('store'))
  cleanups.push(provider.close, folder.remove, place.close, async () => log.close())
  const submit = async (key: string, over: { calls?: number } = {}): Promise<string> => {
    const job = gatedJob({ folder: folder.path, calls: over.calls ?? calls }, provider.baseUrl, { idempotencyKey: key })
    return (await place.engine.submit(job)).jobId
  }
  const startWorker = (name: string) =>
    startKnovaryn(['worker', '--id', name, '--lease', '1', '--jobs', gatedJobModule, ...folder.store], {
      env: { TEST_KEY: `key-of-${name}` },
    })
  const callsOf = async (name: string) =>
    (await provider.calls()).filter((call) => call.request.headers['authorization'] === `Bearer key-of-${name}`)
  return { provider, folder, place, log, submit, startWorker, callsOf }
}

type Bench = Awaited<ReturnType<typeof twoWorkers>>

/** What the frozen one was doing, as far as the log and the provider show it. */
type Hit = {
  readonly how: string
  /** The log's lock is held by somebody else. */
  readonly isBlocked?: true
  /** Called once it is frozen. */
  release?(): Promise<void>
  /** Called once the job is taken over. */
  beforeThaw?(): Promise<void>
}

/**
 * Freezes worker A where `reach` says, until B has taken the job over, and thaws it: while B is at work where
 * `thawWhileOthersWork`, else after the job has ended.
 */
const frozenAndThawed = async (
  script: Script,
  prepare: (bench: Bench) => Promise<void>,
  reach: (bench: Bench, jobId: string, a: ReturnType<Bench['startWorker']>) => Promise<Hit>,
) => {
  const bench = await twoWorkers(script)
  const { log, submit, startWorker, callsOf } = bench
  await prepare(bench)
  const jobId = await submit('frozen')
  const a = startWorker('a')
  const hit = await reach(bench, jobId, a)
  const files = [bench.folder.at('store/views.db'), ...(hit.isBlocked ? [] : [bench.folder.at('store/log.db')])]
  const letGoAgain = await freezeBetweenWrites(a, files)
  const stateAtFreeze = log.job(jobId)
  await hit.release?.()
  const b = startWorker('b')
  await until('the other worker to take over', () => log.job(jobId)?.lease?.owner === 'b' || isTerminal(log.job(jobId)!.state), {
    describe: () => `a: ${a.stderr()}\nb: ${b.stderr()}`,
  })
  const takenOver = log.job(jobId)
  await hit.beforeThaw?.()
  // By now the provider knows of everything that was sent before the freeze.
  const callsBefore = (await callsOf('a')).length
  a.signal('SIGCONT')
  await a.line(/lost job/, { withinMs: 10_000 })
  await until('the job to end', () => isTerminal(log.job(jobId)!.state))

  const events = log.events(jobId)
  const expired = events.findIndex((event) => event.type === 'LeaseExpired')
  expect(expired).toBeGreaterThan(0)
  const byA = events.filter((event) => event.meta.actor === 'worker:a')
  expect(byA.every((event) => event.revision < expired)).toBe(true)
  expect(events.filter((event) => terminalStates.has(terminal(event.type))).length).toBe(1)
  expect(log.job(jobId)?.state).toBe('succeeded')
  const callsAfter = (await callsOf('a')).length
  expect(callsAfter).toBe(callsBefore)

  await b.kill()
  const next = await submit('next', { calls: 1 })
  await until('the thawed worker to take the next job', () => log.job(next)?.state === 'succeeded')
  expect(log.events(next).find((event) => event.type === 'JobLeased')).toMatchObject({ data: { owner: 'a' } })
  expect(a.hasExited()).toBe(false)
  const { findings } = await bench.place.engine.verifyLog()
  expect(findings).toEqual([])
  const openAtFreeze = Object.keys(stateAtFreeze?.open ?? {}).length
  console.log(
    `${hit.how}${letGoAgain === 0 ? '' : ` (let go ${letGoAgain} times)`}: open reservations ${openAtFreeze}, calls of the frozen worker ${callsBefore} before and ${callsAfter} after; ` +
      `${log.count(jobId, 'ProviderCallSettled')} settled, ${log.job(jobId)?.money.held.calls} held ` +
      `(${takenOver?.lastToken} claims)`,
  )
  return { ...bench, jobId, stateAtFreeze, callsBefore }
}

const terminal = (type: string): never =>
  ({ JobSucceeded: 'succeeded', JobFailed: 'failed', JobCancelled: 'cancelled' })[type] as never

/**
 * The answer that the frozen one could not record is offered to the new owner: it is used where it comes before the
 * question is sent again, else that is a second send beside a hold.
 */
const expectOneCallEachOrHeld = async ({ provider, log }: Pick<Bench, 'provider' | 'log'>, jobId: string): Promise<void> => {
  const own = (await provider.calls()).filter((call) => call.idempotencyKey?.startsWith(jobId))
  const held = log.job(jobId)?.money.held.calls ?? -1
  expect([0, 1]).toContain(held)
  expect(own.length).toBe(calls + held)
  expect(log.count(jobId, 'ProviderCallSettled')).toBe(calls)
}

const lockLog = async ({ folder }: Bench) => {
  const holder = startLockHolder(folder.at('store/log.db'), 60_000)
  await holder.line(/locked/)
  return { isBlocked: true as const, release: () => holder.kill() }
}

/** Only passes the time in which a blocked append is tried and tried again. */
const whileBlocked = async (): Promise<void> => {
  const since = performance.now()
  await until('a few tries', () => performance.now() - since > 150)
}

test('O-01: a worker frozen after its second checkpoint and before its third call starts no call and writes nothing', async () => {
  const { log, jobId, provider } = await frozenAndThawed(
    answersAfter(5),
    ({ folder }) => holdStep(folder.path, 'call-2'),
    async ({ folder }, _jobId, a) => {
      await a.line(/reached call-2/)
      return { how: 'before a reservation', release: () => letGo(folder.path, 'call-2') }
    },
  )
  const own = (await provider.calls()).filter((call) => call.idempotencyKey?.startsWith(jobId))
  expect(own.length).toBe(calls)
  expect(log.count(jobId, 'CheckpointRecorded')).toBe(calls)
  expect(log.job(jobId)?.money.held.calls).toBe(0)
})

test('a worker frozen while the append of its reservation is pending starts no call and writes nothing', async () => {
  const { stateAtFreeze } = await frozenAndThawed(
    answersAfter(5),
    ({ folder }) => holdStep(folder.path, 'call-2'),
    async (bench, jobId, a) => {
      const { folder, log } = bench
      await a.line(/reached call-2/)
      const lock = await lockLog(bench)
      const before = log.job(jobId)!.revision
      await letGo(folder.path, 'call-2')
      await whileBlocked()
      expect(log.job(jobId)!.revision).toBe(before)
      return { how: 'reservation pending', ...lock }
    },
  )
  expect(Object.keys(stateAtFreeze?.open ?? {})).toEqual([])
})

test('a worker frozen between its reservation and the send starts no call and writes nothing', async () => {
  const hits: number[] = []
  for (const afterMs of [0, 3, 10]) {
    const { stateAtFreeze, callsBefore } = await frozenAndThawed(
      answersAfter(5),
      ({ folder }) => holdStep(folder.path, 'call-0'),
      async ({ folder, log }, jobId, a) => {
        await a.line(/reached call-0/)
        await letGo(folder.path, 'call-0')
        // Looks without a pause: the send follows its reservation within milliseconds.
        const since = performance.now()
        while (Object.keys(log.job(jobId)!.open).length === 0 && performance.now() - since < 20_000);
        const reserved = performance.now()
        while (performance.now() - reserved < afterMs);
        return { how: `${afterMs} ms behind the reservation` }
      },
    )
    if (Object.keys(stateAtFreeze?.open ?? {}).length === 1 && callsBefore === 0) hits.push(afterMs)
  }
  console.log(`frozen before the send at ${hits.join(', ')} ms behind the reservation`)
  expect(hits.length).toBeGreaterThan(0)
})

test('a worker frozen while its call is under way finds its answer refused when it thaws', async () => {
  const { provider, jobId, log } = await frozenAndThawed(
    answersAfter(5, { rules: [{ when: { promptIncludes: 'Step 1,' }, times: 1, answer: { delayMs: 500 } }] }),
    async () => {},
    async ({ provider: server }) => {
      await until('the call to arrive', async () => (await server.calls()).length === 2)
      return {
        how: 'call under way, answered meanwhile',
        release: async () => {
          await until('the answer', async () => (await server.calls())[1]?.answeredAt)
        },
      }
    },
  )
  await expectOneCallEachOrHeld({ provider, log }, jobId)
})

test('a worker frozen while it settles finds its write refused when it thaws', async () => {
  const { provider, log, jobId } = await frozenAndThawed(
    answersAfter(5, { rules: [{ when: { promptIncludes: 'Step 1,' }, times: 1, answer: { delayMs: 2_500 } }] }),
    async () => {},
    async (bench) => {
      const server = bench.provider
      await until('the call to arrive', async () => (await server.calls()).length === 2)
      const lock = await lockLog(bench)
      expect((await server.calls())[1]?.answeredAt).toBeNull()
      await until('the answer', async () => (await server.calls())[1]?.answeredAt)
      await whileBlocked()
      return { how: 'settlement pending', ...lock }
    },
  )
  await expectOneCallEachOrHeld({ provider, log }, jobId)
})

test.each([
  ['checkpoint', 'checkpoint-2'],
  ['end of a stage', 'stage-end'],
])('a worker frozen while it records its %s writes nothing when it thaws', async (what, step) => {
  const { log, jobId } = await frozenAndThawed(
    answersAfter(5),
    ({ folder }) => holdStep(folder.path, step),
    async (bench, _jobId, a) => {
      await a.line(new RegExp(`reached ${step}`))
      const lock = await lockLog(bench)
      await letGo(bench.folder.path, step)
      await whileBlocked()
      return { how: `${what} pending`, ...lock }
    },
  )
  expect(log.count(jobId, 'ProviderCallSettled')).toBe(calls)
  expect(log.job(jobId)?.money.held.calls).toBe(0)
})

test('a worker frozen while it waits out a backoff starts no call when it thaws', async () => {
  const { log, jobId } = await frozenAndThawed(
    answersAfter(5, {
      rules: [{ when: { promptIncludes: 'Step 1,' }, times: 1, answer: { status: 429, headers: { 'retry-after': '2' } } }],
    }),
    async () => {},
    async ({ log: events }, id) => {
      await until('the refusal', () => events.count(id, 'ProviderCallFailed') === 1)
      const since = performance.now()
      return {
        how: 'backoff, over before the thaw',
        // Told 2 s, it waits at most 3.
        beforeThaw: async () => void (await until('the wait to be over', () => performance.now() - since > 3_100)),
      }
    },
  )
  expect(log.count(jobId, 'ProviderCallSettled')).toBe(calls)
})
