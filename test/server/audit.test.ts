import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sqliteEventStore } from '../../adapters/sqlite/sqliteEventStore.ts'
import { sha256 } from '../../adapters/system/sha256.ts'
import { systemClock } from '../../adapters/system/systemClock.ts'
import { StoreUnavailable } from '../../domain/errors.ts'
import { jobIdOf } from '../../domain/ids.ts'
import type { ArtifactStore } from '../../domain/ports/artifactStore.ts'
import type { SealedEvent } from '../../domain/ports/eventStore.ts'
import { auditJob } from '../../server/audit/auditJob.ts'
import { verifyLog } from '../../server/audit/verifyLog.ts'
import { temporaryFolder } from '../contract/temporaryFolder.ts'
import { aThrow } from '../domain/randomCommands.ts'
import { command, eventTypes, limits, noLimits, projectId, spec } from '../support/controls.ts'
import {
  interleaved,
  jobOf,
  logOf,
  placed,
  priceProfile,
  randomJob,
  storeWithPrices,
  streamOf,
  succeeded,
} from './auditedLog.ts'

const seed = 20_260_302
const numRuns = 100

const verify = async (events: readonly (readonly SealedEvent[])[], artifacts?: ArtifactStore) =>
  verifyLog({ events: logOf(interleaved(events)), artifacts: artifacts ?? (await storeWithPrices()), sha256 })

const audit = async (events: readonly SealedEvent[], artifacts: ArtifactStore) =>
  auditJob({ events: logOf(placed(events)), artifacts, sha256 }, jobIdOf(projectId, 'the-key', sha256))

describe(`histories that the engine can write (${numRuns} random ones, seed ${seed})`, () => {
  test('have no finding, alone or among each other', async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(aThrow, { minLength: 20, maxLength: 60, size: 'max' }), { minLength: 3, maxLength: 3 }),
        async (jobs) => {
          const streams = jobs.map((thrown, index) => randomJob(`job-${index}`, thrown))
          for (const { type } of streams.flat()) seen.add(type)
          const events = streams.flat().length
          expect(await verify(streams)).toEqual({ jobs: 3, events, artifacts: 1, findings: [] })
        },
      ),
      { seed, numRuns },
    )
    expect(eventTypes.filter((type) => !seen.has(type))).toEqual([])
  }, 60_000)

  test('have none in a SQLite log, page after page, and the walk tells how far it is', async () => {
    const folder = await temporaryFolder()
    const events = await sqliteEventStore(join(folder.path, 'log.db'), systemClock())
    const throws = fc.sample(fc.array(aThrow, { minLength: 60, maxLength: 60, size: 'max' }), { seed, numRuns: 120 })
    const streams = throws.map((thrown, index) => randomJob(`job-${index}`, thrown))
    for (const stream of streams) await events.append(stream[0]?.stream ?? '', stream, 'no-stream')
    const told: number[] = []
    const report = await verifyLog(
      { events, artifacts: await storeWithPrices(), sha256 },
      { progress: (count) => told.push(count) },
    )
    const count = streams.flat().length
    expect(report).toEqual({ jobs: 120, events: count, artifacts: 1, findings: [] })
    expect(told).toEqual([...Array.from({ length: Math.floor(count / 1_000) }, (_, page) => (page + 1) * 1_000), count])
    await events.close()
    await folder.remove()
  })
})

const logs = (count: number) => Array.from({ length: count }, () => command.LogJob())
const begun = [command.SubmitJob({ spec: spec({ limits: noLimits }) }), command.ClaimJob(), command.StartJob()]

describe('a job that ended long ago', () => {
  const failure = { errorCode: 'x', errorSummary: 'x', errorKind: 'bug', retryable: false } as const
  const lost = jobOf(
    'ended',
    ...begun,
    command.ReserveCall(),
    command.FailCall(),
    command.FailAttempt({ failure }),
    command.RetryJob(),
    command.ReconcileCall(),
    command.ClaimJob(),
    command.StartJob({ token: 2 }),
  )
  const filler = jobOf('filler', ...begun, ...logs(2_500))
  const retriedAt = lost.findIndex(({ type }) => type === 'JobRetried')

  test('is read again when it goes on, and found sound', async () => {
    const log = placed([...lost.slice(0, retriedAt), ...filler, ...lost.slice(retriedAt)])
    let read = 0
    const { readAll, readStream } = logOf(log)
    const report = await verifyLog({
      events: {
        readAll,
        readStream: async (stream, options) => {
          const page = await readStream(stream, options)
          read += page.length
          return page
        },
      },
      artifacts: await storeWithPrices(),
      sha256,
    })
    expect(report).toEqual({ jobs: 2, events: log.length, artifacts: 1, findings: [] })
    expect(read).toBe(retriedAt)
  })

  test('is found broken where it goes on in a way that it cannot, once', async () => {
    const commands = [...begun, command.CompleteStage(), command.FailAttempt({ failure })]
    const other = jobOf('ended', ...commands)
    const twice = jobOf('ended', ...commands, command.RetryJob())
    const cancelled = twice.map((event) => (event.type === 'JobRetried' ? { ...event, type: 'JobResumed' } : event))
    const log = placed([...other, ...filler, ...cancelled.slice(other.length)])
    const { findings } = await verifyLog({ events: logOf(log), artifacts: await storeWithPrices(), sha256 })
    expect(findings.map(({ rule, revision }) => `${rule} at ${revision}`)).toEqual([
      `hash at ${other.length}`,
      `transition at ${other.length}`,
    ])
  })
})

describe('a job of many calls', () => {
  test('adds up to the last digit, over every start of a new page of its ledger', async () => {
    const calls = Array.from({ length: 1_200 }, (_, index) => [
      command.ReserveCall({ callKey: `key-${index}` }),
      command.SettleCall({ call: index + 1 }),
    ]).flat()
    const { findings, events } = await verify([jobOf('many', ...begun, ...calls)])
    expect({ findings, events }).toEqual({ findings: [], events: 2_403 })
  })

  test('that was billed above its worst case and over its limit is sound, because the log says so', async () => {
    const usage = { inputTokens: 5_000, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 9_000 }
    const submitted = command.SubmitJob({ spec: spec({ limits: limits() }) })
    const overrun = jobOf('over', submitted, ...begun.slice(1), command.ReserveCall(), command.SettleCall({ usage }))
    expect(overrun.at(-1)?.data).toContain('"overrun":true')
    expect((await verify([overrun])).findings).toEqual([])
  })

  test('of which one has a cost, though its model has no price, is found broken there', async () => {
    const job = jobOf('free', ...begun, command.ReserveCall({ model: 'unpriced' }))
    const { findings } = await verify([job])
    expect(findings.map(({ rule, revision }) => `${rule} at ${revision}`)).toEqual(['price at 3'])
  })
})

describe('the artifacts of a job', () => {
  const bytes = new TextEncoder().encode('{"text":"a"}')
  const inner = { sha256: sha256(bytes), bytes: bytes.length, mediaType: 'text/plain' }
  const outerBytes = new TextEncoder().encode(JSON.stringify({ pieces: [inner] }))
  const outer = { sha256: sha256(outerBytes), bytes: outerBytes.length, mediaType: 'application/json' }
  const store = async (...contents: readonly Uint8Array[]): Promise<ArtifactStore> => {
    const artifacts = await storeWithPrices()
    for (const content of contents) await artifacts.put(projectId, content)
    return artifacts
  }
  const settled = (answer: typeof inner) =>
    jobOf('the-key', ...begun, command.ReserveCall(), command.SettleCall({ answer: { artifact: answer } }))
  const found = async (events: readonly SealedEvent[], artifacts: ArtifactStore) =>
    (await audit(events, artifacts)).findings.map(({ rule, revision }) => `${rule} at ${revision}`)

  test('are read, each once, with those that they refer to', async () => {
    const read: string[] = []
    const artifacts = await store(bytes, outerBytes)
    const counting: ArtifactStore = {
      ...artifacts,
      get: (project, name) => {
        read.push(name)
        return artifacts.get(project, name)
      },
    }
    const job = jobOf(
      'the-key',
      command.SubmitJob({ spec: spec({ input: { json: { files: [inner, outer] } } }) }),
      ...begun.slice(1),
      command.ReserveCall(),
      command.SettleCall({ answer: { artifact: outer } }),
      command.RecordCheckpoint({ value: { artifact: outer } }),
      command.AcceptExamples({ examples: { json: [[inner]] } }),
      command.CompleteStage({ result: { artifact: inner } }),
      command.CompleteStage({ stage: 'generate' }),
      command.SucceedJob({ output: { artifact: outer } }),
    )
    expect(await audit(job, counting)).toMatchObject({ artifacts: 3, findings: [] })
    expect(read.filter((name) => name === inner.sha256)).toHaveLength(1)
    expect(read.filter((name) => name === outer.sha256)).toHaveLength(1)
  })

  test('that are missing are named with the first event that needs them', async () => {
    expect(await found(settled(inner), await store())).toEqual(['artifact_missing at 4'])
    expect(await found(settled(outer), await store(outerBytes))).toEqual(['artifact_missing at 4'])
    const { findings } = await audit(settled(inner), await store())
    expect(findings[0]).toMatchObject({ stream: streamOf('the-key'), position: '000000000005' })
    expect(findings[0]?.message).toContain(inner.sha256)
  })

  test('that hold other bytes are named, whether or not their store sees it', async () => {
    const artifacts = await store(bytes)
    const rotten: ArtifactStore = {
      ...artifacts,
      get: async (project, name) => (name === inner.sha256 ? outerBytes : artifacts.get(project, name)),
    }
    expect(await found(settled(inner), rotten)).toEqual(['artifact_corrupt at 4'])
    const failing: ArtifactStore = { ...artifacts, get: async () => Promise.reject(new Error('a bad sector')) }
    expect(await found(settled(inner), failing)).toEqual([
      'price_profile at 0',
      'artifact_corrupt at 0',
      'artifact_corrupt at 4',
    ])
  })

  test('that have another size than an event says are named', async () => {
    expect(await found(settled({ ...inner, bytes: 1 }), await store(bytes))).toEqual(['artifact_size at 4'])
  })

  test('that the log itself gave up are none of its faults, until they are needed again', async () => {
    const completed = command.CompleteStage({ result: { artifact: inner } })
    const givenUp = [...begun, completed, command.InvalidateCheckpoint({ sha256: inner.sha256 })]
    expect(await found(jobOf('the-key', ...givenUp), await store())).toEqual([])
    expect(await found(jobOf('the-key', ...givenUp, completed), await store())).toEqual(['artifact_missing at 5'])
  })

  test('include the price profile, without which no cost can be judged', async () => {
    const artifacts = await storeWithPrices()
    const priceless: ArtifactStore = {
      ...artifacts,
      get: async (project, name) => (name === priceProfile.sha256 ? null : artifacts.get(project, name)),
    }
    expect((await verify([succeeded('a')], priceless)).findings.map(({ rule }) => rule)).toEqual([
      'price_profile',
      'artifact_missing',
    ])
  })

  test('in a store that is away are no finding: the audit says that it could not be done', async () => {
    const away: ArtifactStore = {
      ...(await storeWithPrices()),
      get: async () => Promise.reject(new StoreUnavailable('the disk is not mounted')),
    }
    await expect(audit(settled(inner), away)).rejects.toThrow(StoreUnavailable)
    await expect(verify([settled(inner)], away)).rejects.toThrow(StoreUnavailable)
  })
})

test('the audit of a job that is not there has seen nothing', async () => {
  expect(await audit([], await storeWithPrices())).toEqual({ jobs: 0, events: 0, artifacts: 0, findings: [] })
})
