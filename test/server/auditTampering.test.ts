import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sha256 } from '../../adapters/system/sha256.ts'
import { jobIdOf } from '../../domain/ids.ts'
import type { ArtifactStore } from '../../domain/ports/artifactStore.ts'
import type { SealedEvent, StoredEvent } from '../../domain/ports/eventStore.ts'
import { auditJob } from '../../server/audit/auditJob.ts'
import { verifyLog } from '../../server/audit/verifyLog.ts'
import { projectId } from '../support/controls.ts'
import { aThrow } from '../domain/randomCommands.ts'
import {
  changed,
  interleaved,
  logOf,
  placed,
  randomJob,
  resealed,
  storeWithPrices,
  streamOf,
  succeeded,
} from './auditedLog.ts'

const verify = async (events: readonly StoredEvent[], artifacts?: ArtifactStore) =>
  verifyLog({ events: logOf(events), artifacts: artifacts ?? (await storeWithPrices()), sha256 })

/** What is found in the log of a sound job, a tampered one and another sound one: only ever in the tampered one. */
const foundIn = async (tampered: readonly SealedEvent[]): Promise<readonly string[]> => {
  const log = interleaved([succeeded('before'), tampered, succeeded('after')])
  const { findings, events } = await verify(log)
  expect(events).toBe(log.length)
  for (const { stream, jobId } of findings) {
    expect(stream).toBe(streamOf('tampered'))
    expect(jobId).toBe(jobIdOf(projectId, 'tampered', sha256))
  }
  const alone = await auditJob(
    { events: logOf(placed(tampered)), artifacts: await storeWithPrices(), sha256 },
    jobIdOf(projectId, 'tampered', sha256),
  )
  expect(rulesOf(alone.findings)).toEqual(rulesOf(findings))
  return rulesOf(findings)
}

const rulesOf = (findings: readonly { rule: string; revision?: number }[]): readonly string[] =>
  findings.map(({ rule, revision }) => `${rule} at ${revision}`)

const job = succeeded('tampered')
const cheaper = (text: string): string => text.replace(/"costUsd":"[\d.]+"/, '"costUsd":"0.000000001"')

describe('a tampered log is found broken, and the broken event is named, when', () => {
  test('nothing was changed, nothing is found', async () => {
    expect(job).toHaveLength(10)
    expect(await foundIn(job)).toEqual([])
  })

  test.each(['data', 'meta', 'recordedAt'] as const)('one byte of the %s of any event is another', async (field) => {
    for (const { revision } of job) {
      const bytes = changed(job, revision, (event) => ({
        [field]: field === 'recordedAt' ? event.recordedAt.replace('2026', '2027') : `${event[field]} `,
      }))
      expect(await foundIn(bytes)).toEqual([`hash at ${revision}`])
    }
  })

  test('a stamp goes back with a good seal, nothing is found: clocks do that', async () => {
    expect(await foundIn(resealed(changed(job, 5, () => ({ recordedAt: '2020-01-01T00:00:00.000Z' }))))).toEqual([])
  })

  test('one letter of an answer was exchanged for another', async () => {
    const answered = changed(job, 4, ({ data }) => ({ data: data.replace('"text":"a"', '"text":"b"') }))
    expect(await foundIn(answered)).toEqual(['hash at 4'])
  })

  test('a stored hash was changed, and the event behind it is not blamed', async () => {
    expect(await foundIn(changed(job, 3, () => ({ hash: '0'.repeat(64) })))).toEqual(['hash at 3'])
  })

  test('an id was exchanged', async () => {
    expect(await foundIn(changed(job, 3, () => ({ id: job[2]?.id ?? '' })))).toEqual(['id at 3'])
  })

  test('a bill was lowered and every later hash made anew', async () => {
    expect(await foundIn(resealed(changed(job, 4, ({ data }) => ({ data: cheaper(data) }))))).toEqual(['price at 4'])
  })

  test('what was set aside for a call was lowered and every later hash made anew', async () => {
    const found = await foundIn(resealed(changed(job, 3, ({ data }) => ({ data: cheaper(data) }))))
    expect(found).toContain('price at 3')
  })

  test('a bill, its usage and its price agree, but the job was given less room than it used', async () => {
    const poorer = changed(job, 0, ({ data }) => ({ data: data.replace('"maximumCalls":10', '"maximumCalls":1') }))
    expect(await foundIn(resealed(poorer))).toContain('limits at 6')
  })

  test('an event was taken out of the middle', async () => {
    const found = await foundIn(job.filter(({ revision }) => revision !== 4))
    expect(found.slice(0, 2)).toEqual(['gapless at 5', 'hash at 5'])
  })

  test('an event was taken out, the rest renumbered and every hash made anew', async () => {
    const fewer = job.filter(({ revision }) => revision !== 3).map((event, revision) => ({ ...event, revision }))
    expect((await foundIn(resealed(fewer)))[0]).toBe('ledger at 3')
  })

  test('the first event was taken out', async () => {
    expect((await foundIn(job.slice(1))).slice(0, 2)).toEqual(['gapless at 1', 'hash at 1'])
  })

  test('two events have changed places', async () => {
    const [five, six] = [job[5], job[6]]
    if (five === undefined || six === undefined) throw new Error('the job is too short')
    const swapped = job.map((event) =>
      event === five ? { ...six, revision: 5 } : event === six ? { ...five, revision: 6 } : event,
    )
    expect(await foundIn(swapped)).toEqual(expect.arrayContaining(['hash at 5', 'hash at 6']))
  })

  test('an event of another job was put in', async () => {
    const foreign = { ...(succeeded('other')[5] as SealedEvent), stream: streamOf('tampered') }
    expect(await foundIn(job.map((event) => (event.revision === 5 ? foreign : event)))).toContain('hash at 5')
  })

  test('an event stands there twice', async () => {
    const twice = job.flatMap((event) => (event.revision === 5 ? [event, event] : [event]))
    expect(await foundIn(twice)).toEqual(['gapless at 5', 'hash at 5'])
  })

  test('an event was made up and every later hash made anew', async () => {
    const madeUp = {
      ...(job[2] as SealedEvent),
      type: 'JobLogged',
      data: '{"level":"info","message":"x"}',
      meta: '{"projectId":"default","actor":"x","commandId":"x"}',
    }
    const more = [...job.slice(0, 3), madeUp, ...job.slice(3)].map((event, revision) => ({ ...event, revision }))
    expect(await foundIn(resealed(more))).toEqual(['fencing at 3'])
  })

  test('the data is no JSON, or JSON that cannot be kept exactly, or not of its schema', async () => {
    const inexact = ['{"__proto__":{}}', '{"\\u005f_proto__":1}', '{"token":9007199254740993}', '{"token":1e400}']
    for (const data of ['{', '{}', 'null', '[]', ...inexact]) {
      expect(await foundIn(resealed(changed(job, 1, () => ({ data }))))).toEqual(['schema at 1'])
    }
  })

  test('a key stands in the data twice, though the value that is read fits', async () => {
    const twofold = changed(job, 1, ({ data }) => ({ data: data.replace('{', '{"token":7,') }))
    expect(JSON.parse(twofold[1]?.data ?? '')).toEqual(JSON.parse(job[1]?.data ?? ''))
    expect(await foundIn(resealed(twofold))).toEqual(['schema at 1'])
  })

  test('the stream is not that of the project and the key', async () => {
    const stolen = job.map((event) => ({ ...event, stream: streamOf('other') }))
    const { findings } = await verify(placed(resealed(stolen)))
    expect(rulesOf(findings)).toEqual(['job_id at 0'])
  })

  test('an event names another project', async () => {
    const moved = changed(job, 2, ({ meta }) => ({ meta: meta.replace('"default"', '"other"') }))
    expect(await foundIn(resealed(moved))).toEqual(['project at 2'])
  })
})

describe('an event of a newer program', () => {
  const newer = resealed(changed(job, 5, () => ({ type: 'JobTeleported', schemaVersion: 7 })))

  test('is named by its type, version and place, and what follows it is not guessed at', async () => {
    const log = placed(newer)
    const { findings } = await verify(log)
    expect(findings).toEqual([
      {
        rule: 'unknown_event',
        message: expect.stringMatching(/^JobTeleported version 7 is newer than this program/),
        jobId: jobIdOf(projectId, 'tampered', sha256),
        stream: streamOf('tampered'),
        revision: 5,
        position: log[5]?.position,
      },
    ])
  })

  test('does not hide that a later event was changed', async () => {
    const both = changed(newer, 7, ({ data }) => ({ data: `${data} ` }))
    expect(await foundIn(both)).toEqual(['unknown_event at 5', 'hash at 7'])
  })
})

describe('streams that are no job', () => {
  const evidence = (key: string) => {
    const stream = `evidence-${jobIdOf(projectId, key, sha256)}`
    const kept = { type: 'LateAnswer', data: '{"text":"late"}', meta: '{"actor":"worker:w"}' }
    return resealed(job.slice(0, 3).map((event) => ({ ...event, ...kept, stream })))
  }

  test('are judged by their chain, and not by what they mean', async () => {
    const sound = await verify(placed(evidence('tampered')))
    expect(sound).toEqual({ jobs: 0, events: 3, artifacts: 0, findings: [] })
    const broken = await verify(placed(changed(evidence('tampered'), 1, () => ({ data: '{}' }))))
    expect(rulesOf(broken.findings)).toEqual(['hash at 1'])
  })

  test('belong to the audit of their job', async () => {
    const log = placed([...job, ...changed(evidence('tampered'), 2, () => ({ data: '{}' }))])
    const audited = { events: logOf(log), artifacts: await storeWithPrices(), sha256 }
    const { findings, events } = await auditJob(audited, jobIdOf(projectId, 'tampered', sha256))
    expect(events).toBe(13)
    expect(rulesOf(findings)).toEqual(['hash at 2'])
  })

  test('with the name of half a job are named', async () => {
    const named = resealed(job.map((event) => ({ ...event, stream: 'job-1' })))
    expect(rulesOf((await verify(placed(named))).findings)).toEqual(['stream at 0'])
  })
})

describe('the whole log', () => {
  test('is walked to its end past 1 000 findings, of which 10 of a stream and 100 together are listed', async () => {
    const broken = Array.from({ length: 110 }, (_, index) =>
      succeeded(`job-${index}`).map((event) => ({ ...event, recordedAt: '2026-01-01' })),
    )
    const { findings, events, jobs } = await verify(interleaved(broken))
    expect({ events, jobs }).toEqual({ events: 1_100, jobs: 110 })
    expect(findings).toHaveLength(101)
    expect(findings.at(-1)).toMatchObject({ rule: 'more', message: expect.stringMatching(/^\d+ more findings/) })
  })

  test('is found broken where positions do not rise, with the event that stands wrongly', async () => {
    const log = placed(job).map((event, index) => (index === 4 ? { ...event, position: '000000000001' } : event))
    expect(rulesOf((await verify(log)).findings)).toEqual(['position at 4'])
  })
})

const seed = 20_260_303
const mangled = fc.record({
  at: fc.nat(),
  field: fc.constantFrom('data', 'meta', 'type', 'recordedAt', 'hash', 'id', 'stream', 'revision', 'schemaVersion'),
  text: fc.oneof(
    fc.constantFrom('', '{}', 'null', '[]', '{"call":1}', '\u0000', '\uD800', '{"__proto__":1}', 'JobStarted', 'job-'),
    fc.json(),
    fc.string(),
  ),
  number: fc.oneof(fc.constantFrom(-1, 0.5, NaN, 2 ** 53, Infinity), fc.integer()),
  resealing: fc.boolean(),
})

describe(`whatever was done to a log (seed ${seed})`, () => {
  test('the auditor tells of it and never throws', async () => {
    let found = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(aThrow, { minLength: 20, maxLength: 40, size: 'max' }),
        fc.array(mangled, { minLength: 1, maxLength: 5 }),
        async (thrown, changes) => {
          let events = randomJob('tampered', thrown)
          for (const { at, field, text, number, resealing } of changes) {
            const value = field === 'revision' || field === 'schemaVersion' ? number : text
            const index = at % events.length
            events = events.map((event, place) => (place === index ? { ...event, [field]: value } : event))
            if (resealing) events = resealed(events)
          }
          const { findings } = await verify(placed(events))
          if (findings.length > 0) found += 1
        },
      ),
      { seed, numRuns: 200 },
    )
    expect(found).toBeGreaterThan(190)
  }, 60_000)
})
