import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { memoryArtifactStore } from '../../adapters/memory/memoryArtifactStore.ts'
import { memoryEventStore } from '../../adapters/memory/memoryEventStore.ts'
import { memoryViewStore } from '../../adapters/memory/memoryViewStore.ts'
import { sha256 } from '../../adapters/system/sha256.ts'
import { systemClock } from '../../adapters/system/systemClock.ts'
import { systemRandom } from '../../adapters/system/systemRandom.ts'
import type { JobEvent } from '../../domain/job/events.ts'
import { silentTelemetry } from '../../server/telemetry.ts'
import { workplace } from '../../server/workplace.ts'
import translate from './ownJob.ts'
import { failuresByCode } from './ownProjection.ts'
import { echoProvider } from './ownProvider.ts'

test('a job of one’s own runs on a provider of one’s own, and is not asked twice', async () => {
  const events = memoryEventStore()
  const views = memoryViewStore()
  const { engine, work } = workplace({
    events,
    views,
    artifacts: memoryArtifactStore(sha256),
    presence: null,
    clock: systemClock(),
    random: systemRandom(),
    sha256,
    telemetry: silentTelemetry,
    definitions: [translate],
    provider: () => echoProvider,
    ownPrices: () => [],
    providerLimits: () => ({}),
    callTimeoutMs: 1_000,
    close: async () => {},
  })
  const submitted = await engine.submit({
    type: 'translate',
    input: { texts: ['good morning', '', 'good night', 'good morning'], into: 'French' },
    provider: { name: 'echo' },
    model: 'parrot',
    allowUnpriced: ['parrot'],
  })
  await work({ once: true }, new AbortController().signal)
  const done = await engine.status(submitted.jobId)
  expect(done).toMatchObject({ state: 'succeeded', output: { json: { texts: 2, file: { bytes: 13 } } }, budget: { callsMade: 2 } })
  const { items } = await engine.events(submitted.jobId)
  expect(items.filter((event) => event.type === 'CheckpointRecorded').map((event) => event.data)).toMatchObject([
    { key: 'text 0', value: { json: 'morning' } },
    { key: 'text 1', value: { json: 'night' } },
  ])
  await engine.close()
})

test('a projection of one’s own folds events into documents', () => {
  const failed = (code: string): JobEvent => ({
    type: 'JobFailed',
    data: { errorCode: code, errorSummary: '', errorKind: 'bug' },
    id: 'e',
    schemaVersion: 1,
    jobId: 'f'.repeat(32) as JobEvent['jobId'],
    revision: 3,
    position: '1',
    recordedAt: '2026-01-01T00:00:00.000Z',
    hash: '0',
    meta: { projectId: 'default', actor: 'worker:w', commandId: 'c' },
  })
  const once = failuresByCode.project(null, failed('bug'))
  expect(failuresByCode.project(once, failed('bug'))).toEqual({ code: 'bug', jobs: 2 })
})

describe('the README quotes its examples', async () => {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8')
  const quotes = [...readme.matchAll(/<!-- from (test\/examples\/\S+)#(\w+) -->\n```ts\n(.*?)```/gs)]

  test('at least once each', () => {
    expect(new Set(quotes.map(([, file]) => file)).size).toBe(4)
  })

  test.each(quotes.map(([, file = '', region = '', quoted = '']) => ({ file, region, quoted })))(
    'letter for letter: $file#$region',
    async ({ file, region, quoted }) => {
      const source = await readFile(new URL(`../../${file}`, import.meta.url), 'utf8')
      const lines = source.split('\n')
      const from = lines.findIndex((line) => line.trim() === `// region ${region}`)
      const to = lines.findIndex((line) => line.trim() === `// endregion ${region}`)
      const inside = lines.slice(from + 1, to).filter((line) => !/^\s*\/\/ (end)?region /.test(line))
      const indent = Math.min(...inside.filter((line) => line !== '').map((line) => line.search(/\S/)))
      const shown = inside.map((line) => line.slice(indent).replace('../../server/library.ts', 'knovaryn').replace('.ts\'', '.mjs\''))
      expect(quoted.trimEnd()).toBe(shown.join('\n'))
    },
  )
})
