// The limits of the README and of the project's issues, as figures. Prints one JSON line a limit and a table at the
// end; exits 1 when one is missed. `JOBS=1000000 npm run bench` puts that many ended jobs behind the claims.
import { readFileSync, rmSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawn, spawnSync } from 'node:child_process'
import { z } from 'zod'
import Database from 'better-sqlite3'
import { memoryArtifactStore } from '../../dist/adapters/memory/memoryArtifactStore.js'
import { systemRandom } from '../../dist/adapters/system/systemRandom.js'
import { silentTelemetry } from '../../dist/server/telemetry.js'
import { workplace } from '../../dist/server/workplace.js'
import { openEngine, defineJob } from '../../dist/server/library.js'
import { decideInTurn } from '../../dist/server/command/decideInTurn.js'
import { emptyJob, loadJob } from '../../dist/server/command/loadJob.js'
import { sqliteStore } from '../../dist/adapters/sqlite/sqliteStore.js'
import { systemClock } from '../../dist/adapters/system/systemClock.js'
import { sha256 } from '../../dist/adapters/system/sha256.js'
import { jobIdOf, jobStream } from '../../dist/domain/ids.js'
import { defaultLimits } from '../../dist/domain/budget.js'

const main = new URL('../../dist/server/main.js', import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), 'knovaryn-limits-'))
const results = []
const report = (name, value, unit, limit, holds) => {
  results.push({ name, value, unit, limit, holds })
  process.stdout.write(`${JSON.stringify({ name, value, unit, limit, holds })}\n`)
}
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
const timed = async (work) => {
  const since = performance.now()
  const value = await work()
  return { value, ms: performance.now() - since }
}

const stages = Array.from({ length: 10 }, (_, index) => ({ name: `stage-${index}`, run: async () => ({ done: index }) }))
const noop = defineJob({ type: 'noop', version: 1, input: z.unknown(), stages })
const submission = (key, over = {}) => ({
  projectId: 'default',
  type: 'noop',
  files: [],
  input: null,
  provider: null,
  model: null,
  parameters: {},
  priceProfiles: [],
  idempotencyKey: key,
  ...over,
})

const tenStages = async () => {
  const store = join(folder, 'ten')
  const clock = systemClock()
  const opened = await sqliteStore(store, clock)
  let appends = 0
  const append = (...given) => {
    appends += 1
    return opened.events.append(...given)
  }
  const place = workplace({
    ...opened, events: { ...opened.events, append }, artifacts: memoryArtifactStore(sha256), clock,
    random: systemRandom(), sha256, telemetry: silentTelemetry, definitions: [noop], provider: () => null,
    ownPrices: () => [], providerLimits: () => ({}), callTimeoutMs: 1_000,
  })
  const { jobId } = await place.engine.submit(submission('one'))
  await place.work({ once: true }, new AbortController().signal)
  const { items } = await place.engine.events(jobId, { limit: 100 })
  await place.close()
  const log = new Database(join(store, 'log.db'), { readonly: true })
  const columns = ['data', 'meta', 'type', 'stream', 'id', 'hash', 'recorded_at'].map((name) => `length(${name})`)
  const { bytes } = log.prepare(`SELECT sum(${columns.join(' + ')}) AS bytes FROM events`).get()
  log.close()
  report('ten-stage no-op job: events', items.length, 'events', '<= 16', items.length <= 16)
  report('ten-stage no-op job: appends', appends, 'appends', '<= 12', appends <= 12)
  report('ten-stage no-op job: log', bytes, 'bytes', '<= 8192', bytes <= 8_192)
}

const longJob = async () => {
  const store = await sqliteStore(join(folder, 'long'), systemClock())
  const loading = { events: store.events, snapshots: store.views, sha256 }
  const jobId = jobIdOf('default', 'long', sha256)
  const at = new Date().toISOString()
  let number = 0
  const stamp = () => ({ commandId: `c${(number += 1)}`, actor: 'bench', at })
  const spec = {
    projectId: 'default', type: 'noop', definitionVersion: 1, stages: ['only'], input: { json: null }, provider: null,
    model: null, parameters: {}, target: null, inputConfigHash: 'a'.repeat(64), idempotencyKey: 'long',
    limits: { ...defaultLimits, maximumCalls: null, maximumCostUsd: null }, rateLimits: {}, priceProfile: null,
    allowUnpriced: [], maxAttempts: 3, callAttempts: 3, maxLostLeases: 5, onUnknown: 'resend', estimatedCostUsd: null,
    concurrency: 4, priority: 0, labels: {}, startAfter: null,
  }
  const amounts = { costUsd: '0.001', calls: 1, inputTokens: 10, outputTokens: 10, examples: 0 }
  let loaded = emptyJob(jobId, sha256)
  const put = async (commands) => {
    const { sealed, next, outcomes } = decideInTurn(loaded, commands, sha256)
    const refused = outcomes.find((outcome) => 'rejected' in outcome)
    if (refused !== undefined || outcomes.length < commands.length) throw new Error(`refused: ${JSON.stringify(refused)}`)
    await store.events.append(jobStream(jobId), sealed, loaded.revision === -1 ? 'no-stream' : loaded.revision)
    loaded = next
  }
  await put([
    { type: 'SubmitJob', ...stamp(), spec },
    { type: 'ClaimJob', ...stamp(), owner: 'bench', leaseMs: 60_000 },
    { type: 'StartJob', ...stamp(), token: 1 },
  ])
  let call = 0
  const putCalls = async (calls) => {
    const commands = []
    for (const last = call + calls; call < last; ) {
      call += 1
      const fingerprint = sha256(String(call))
      commands.push({
        type: 'ReserveCall', ...stamp(), token: 1, callKey: `k:${call}`, fingerprint, stage: 'only', key: String(call),
        provider: 'offline', model: 'm', worstCase: amounts,
      })
      const usage = { inputTokens: 5, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 5 }
      commands.push({
        type: 'SettleCall', ...stamp(), token: 1, call, usage, costUsd: '0.0005', durationMs: 5,
        answer: { json: { text: 'a plausible short answer of a model', finishReason: 'stop' } },
      })
    }
    await put(commands)
  }
  while (loaded.revision < 99_999) await putCalls(200)
  const cold = await timed(() => loadJob(loading, jobId))
  // As long a tail behind the snapshot as there can be.
  await putCalls(250)
  await putCalls(245)
  const warm = []
  for (let round = 0; round < 7; round += 1) warm.push((await timed(() => loadJob(loading, jobId))).ms)
  await store.close()
  report('a job of 100 000 events: state from the whole log', Math.round(cold.ms), 'ms', 'once, then by its tail', true)
  report('a job of 100 000 events: state', +median(warm).toFixed(1), 'ms', '< 100', median(warm) < 100)
  report('a job of 100 000 events: events', loaded.revision + 1, 'events', '>= 100000', loaded.revision + 1 >= 100_000)
}

const statusProcess = async () => {
  const store = `sqlite:${join(folder, 'ten')}`
  const place = await openEngine({ store, definitions: [noop] })
  const { items } = await place.engine.list({})
  await place.close()
  const run = () => spawnSync(process.execPath, [main, 'job', 'status', items[0].jobId, '--store', store, '--json'])
  run()
  const times = []
  for (let round = 0; round < 9; round += 1) {
    const { ms, value } = await timed(() => run())
    if (value.status !== 0) throw new Error(value.stderr.toString())
    times.push(ms)
  }
  report('warm `knovaryn job status` as a process', Math.round(median(times)), 'ms', '< 250', median(times) < 250)
}

const longBatch = async () => {
  const place = await openEngine({ store: `sqlite:${join(folder, 'batch')}` })
  const lines = Array.from({ length: 10_000 }, (_, index) => JSON.stringify({ id: `${index}`, prompt: `Tell of number ${index}.` }))
  const content = new TextEncoder().encode(lines.join('\n'))
  const over = {
    type: 'batch', files: [{ name: 'lines.jsonl', content }], provider: { name: 'offline', baseUrl: null },
    model: 'offline-small', concurrency: 16, limits: { maximumCalls: 20_000 },
  }
  const { jobId } = await place.engine.submit(submission('batch', over))
  // By processor time, so that what else this machine does has no part in it.
  const marks = []
  const mark = async () => {
    const { progress, stage } = await place.engine.status(jobId)
    const { user, system } = process.cpuUsage()
    if (stage === 'generate' && progress !== null) marks.push({ done: progress.done, cpuMs: (user + system) / 1_000 })
  }
  const look = setInterval(() => void mark(), 50)
  const { ms } = await timed(() => place.work({ only: jobId }, new AbortController().signal))
  clearInterval(look)
  await place.close()
  const at = (done) => marks.find((seen) => seen.done >= done)
  const perLine = (from, to) => (at(to).cpuMs - at(from).cpuMs) / (at(to).done - at(from).done)
  const early = perLine(1_000, 3_000)
  const late = perLine(7_500, 9_500)
  report('a 10 000-line batch: lines a second', Math.round(10_000 / (ms / 1_000)), 'lines/s', '', true)
  report('a 10 000-line batch: processor time of a line', +late.toFixed(2), 'ms', '', true)
  report('a 10 000-line batch: a line at its end to one at its start', +(late / early).toFixed(2), 'ratio', '<= 1.25', late / early <= 1.25)
}

/** The storage work alone: as many durable appends as a ten-stage job makes, 16 jobs at a time. Not an engine. */
const floor = (jobs) => {
  const database = new Database(join(folder, 'floor.db'))
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  database.exec('CREATE TABLE e(p INTEGER PRIMARY KEY AUTOINCREMENT, s TEXT, r INTEGER, d TEXT, UNIQUE(s, r))')
  const insert = database.prepare('INSERT INTO e(s, r, d) VALUES (?, ?, ?)')
  const data = JSON.stringify({ text: 'x'.repeat(280) })
  const since = performance.now()
  for (let group = 0; group < jobs / 16; group += 1) {
    for (let revision = 0; revision < 12; revision += 1) {
      database.transaction(() => {
        for (let each = 0; each < 16; each += 1) insert.run(`job-${group * 16 + each}`, revision, data)
      })()
    }
  }
  const perSecond = jobs / ((performance.now() - since) / 1_000)
  database.close()
  return perSecond
}

const throughput = async () => {
  const jobs = 800
  const place = await openEngine({ store: `sqlite:${join(folder, 'throughput')}`, definitions: [noop] })
  const keys = Array.from({ length: jobs }, (_, index) => `job ${index}`)
  const submitted = await timed(() => Promise.all(keys.map((key) => place.engine.submit(submission(key)))))
  const worked = await timed(() => place.work({ once: true, slots: 16 }, new AbortController().signal))
  await place.close()
  const perSecond = jobs / (worked.ms / 1_000)
  report('ten-stage no-op jobs, 16 at a time', Math.round(perSecond), 'jobs/s', '', true)
  report('the same to the bare SQLite floor of this run', +(perSecond / floor(jobs)).toFixed(2), 'ratio', '', true)
  report('submits', Math.round(jobs / (submitted.ms / 1_000)), 'jobs/s', '', true)
}

const memoryOfAWorker = async () => {
  const jobs = 10_000
  const store = `sqlite:${join(folder, 'memory')}`
  const module = new URL('./oneCallJob.mjs', import.meta.url).pathname
  const place = await openEngine({ store, jobs: module })
  for (let from = 0; from < jobs; from += 500) {
    await Promise.all(
      Array.from({ length: 500 }, (_, index) =>
        place.engine.submit(
          submission(`job ${from + index}`, {
            type: 'oneCall', provider: { name: 'offline', baseUrl: null }, model: 'offline-small',
          }),
        ),
      ),
    )
  }
  await place.close()
  const worker = spawn(process.execPath, [main, 'worker', '--once', '--concurrency', '16', '--store', store, '--jobs', module], {
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  let highest = 0
  const look = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${worker.pid}/status`, 'utf8')
      highest = Math.max(highest, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024)
    } catch {
      // It has just ended.
    }
  }, 100)
  const { ms } = await timed(() => new Promise((resolve) => worker.on('exit', resolve)))
  clearInterval(look)
  report('a worker with 16 slots after 10 000 jobs: highest resident memory', Math.round(highest), 'MiB', '< 250', highest < 250)
  report('one-call jobs by that worker', Math.round(jobs / (ms / 1_000)), 'jobs/s', '', true)
}

/** The rate of claiming and ending empty jobs with many ended ones behind, to that on an empty store. */
const claims = async () => {
  const behind = Number(process.env.JOBS ?? 20_000)
  const rate = async (name, ended) => {
    const store = join(folder, name)
    const place = await openEngine({ store: `sqlite:${store}`, definitions: [noop] })
    for (let from = 0; from < ended; from += 1_000) {
      await Promise.all(
        Array.from({ length: Math.min(1_000, ended - from) }, async (_, index) => {
          const { jobId } = await place.engine.submit(submission(`ended ${from + index}`))
          await place.engine.cancel(jobId)
        }),
      )
    }
    await place.engine.projections()
    await Promise.all(Array.from({ length: 400 }, (_, index) => place.engine.submit(submission(`due ${index}`))))
    await place.engine.projections()
    const { ms } = await timed(() => place.work({ once: true, slots: 4 }, new AbortController().signal))
    await place.close()
    return 400 / (ms / 1_000)
  }
  const empty = await rate('claims-empty', 0)
  const full = await rate('claims-full', behind)
  report(`claims with ${behind} ended jobs behind, to an empty store`, +(full / empty).toFixed(2), 'ratio', '>= 0.8', full / empty >= 0.8)
}

const all = { tenStages, statusProcess, longJob, longBatch, throughput, memoryOfAWorker, claims }
const wanted = process.argv.slice(2)
try {
  for (const [name, limit] of Object.entries(all)) if (wanted.length === 0 || wanted.includes(name)) await limit()
  console.table(Object.fromEntries(results.map(({ name, ...rest }) => [name, rest])))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = results.every((result) => result.holds) ? 0 : 1
