import { expect, test } from 'vitest'
import { Config } from '../../server/config.ts'
import { openWorkplace } from '../../server/compose.ts'
import type { Submission } from '../../server/engine.ts'
import type { LogLine } from '../../server/telemetry.ts'

const lines = (count: number): Uint8Array =>
  new TextEncoder().encode(
    Array.from({ length: count }, (_, index) =>
      JSON.stringify({ id: `line-${index}`, prompt: `Say something about number ${index}, please. It is a number.` }),
    ).join('\n'),
  )

const submission = (count: number, over: Partial<Submission> = {}): Submission => ({
  projectId: 'default',
  type: 'batch',
  files: [{ name: 'prompts.jsonl', content: lines(count) }],
  provider: { name: 'offline', baseUrl: null },
  model: 'offline-small',
  parameters: {},
  priceProfiles: [],
  ...over,
})

const open = async () => {
  const log: LogLine[] = []
  const place = await openWorkplace(Config.parse({ store: 'memory:' }), { env: {}, log: (line) => void log.push(line) })
  return { ...place, log }
}

test('a submitted batch is worked to its end and leaves its results in input order', async () => {
  const { engine, work, log } = await open()
  const submitted = await engine.submit(submission(20))
  expect(submitted).toMatchObject({ state: 'queued', existing: false })
  await work({ once: true }, new AbortController().signal)
  expect(log.filter((line) => line.level !== 'info')).toEqual([])
  const done = await engine.status(submitted.jobId)
  expect(done).toMatchObject({ state: 'succeeded', budget: { callsMade: 20, reservedCostUsd: '0', heldCostUsd: '0' } })
  const files = []
  for await (const file of engine.output(submitted.jobId)) files.push(file)
  const results = new TextDecoder().decode(files[0]?.content).trimEnd().split('\n')
  expect(results.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(
    Array.from({ length: 20 }, (_, index) => `line-${index}`),
  )
  await engine.close()
})

test('the same submission again is the same job', async () => {
  const { engine } = await open()
  const first = await engine.submit(submission(3))
  const again = await engine.submit(submission(3))
  expect(again).toMatchObject({ jobId: first.jobId, existing: true })
  await expect(engine.submit(submission(4, { idempotencyKey: first.idempotencyKey }))).rejects.toMatchObject({
    code: 'idempotency_conflict',
  })
  await engine.close()
})
