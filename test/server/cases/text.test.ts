import { expect, test } from 'vitest'
import { asks, heldProvider, heldWorld, jobThat } from '../../support/heldPlace.ts'

const lone = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/

const world = (definition = asks('a')) => {
  const held = heldProvider()
  const stores = heldWorld(definition, held.provider)
  return { ...held, ...stores, ...stores.open() }
}

test('O-15: an error text cut in the middle of an emoji leaves no half of it in the log', async () => {
  const { engine, work, clock, sends, events, submission } = world()
  const { jobId } = await engine.submit(submission({ callAttempts: 1, maxAttempts: 1 }))
  const stop = new AbortController()
  const working = work({}, stop.signal)
  await clock.advance(500)
  sends[0]?.fail({ message: `${'x'.repeat(499)}🔥${'y'.repeat(2_048)}`, kind: 'invalid_input' })
  await clock.advance(500)
  const failed = await engine.status(jobId)
  expect(failed.state).toBe('failed')
  expect(failed.errorSummary).toMatch(/^x+…$/)
  for (const event of await events.readStream(`job-${jobId}`)) expect(lone.test(JSON.stringify(JSON.parse(event.data)))).toBe(false)
  expect((await engine.audit(jobId)).findings).toEqual([])
  stop.abort()
  await clock.advance(1_000)
  await working
})

test('O-15: half a surrogate pair in an answer becomes U+FFFD, and the job goes on', async () => {
  const { engine, work, clock, sends, submission } = world()
  const { jobId } = await engine.submit(submission())
  const stop = new AbortController()
  const working = work({}, stop.signal)
  await clock.advance(500)
  sends[0]?.answer('broken \ud83d pair')
  await clock.advance(500)
  expect(await engine.status(jobId)).toMatchObject({ state: 'succeeded', output: { json: ['broken \ufffd pair'] } })
  stop.abort()
  await clock.advance(1_000)
  await working
})

test('O-15: a stage that asks with half a surrogate pair is told so, and nothing is sent', async () => {
  const { engine, work, clock, sends, submission } = world(
    jobThat((ctx) => ctx.call({ key: 'a', messages: [{ role: 'user', content: '\ud83d' }] })),
  )
  const { jobId } = await engine.submit(submission())
  const stop = new AbortController()
  const working = work({}, stop.signal)
  await clock.advance(500)
  expect(await engine.status(jobId)).toMatchObject({ state: 'failed', errorCode: 'invalid_input', budget: { callsMade: 0 } })
  expect(sends).toHaveLength(0)
  stop.abort()
  await clock.advance(1_000)
  await working
})

test('OX-22: NUL, U+FFFF, U+2028 and a BOM in an answer and in a label are kept exactly', async () => {
  const odd = 'a\u0000b\uffffc\u2028d\ufeffe'
  const { engine, work, clock, sends, submission } = world()
  const { jobId } = await engine.submit(submission({ labels: { odd } }))
  const stop = new AbortController()
  const working = work({}, stop.signal)
  await clock.advance(500)
  sends[0]?.answer(odd)
  await clock.advance(500)
  expect(await engine.status(jobId)).toMatchObject({ state: 'succeeded', labels: { odd }, output: { json: [odd] } })
  expect((await engine.list({ label: `odd=${odd}` })).items).toHaveLength(1)
  expect((await engine.audit(jobId)).findings).toEqual([])
  stop.abort()
  await clock.advance(1_000)
  await working
})

test.each(['labels', 'parameters', 'input'])('O-13: an own __proto__ key in %s is refused, naming its path', async (place) => {
  const { engine, events, submission } = world()
  const hostile: unknown = JSON.parse('{"deep":{"__proto__":{"admin":true}}}')
  await expect(engine.submit(submission({ [place]: hostile }))).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining(`${place}.deep.__proto__`),
  })
  expect(await events.head()).toBe('')
})

test('O-13: constructor, prototype and hasOwnProperty are ordinary keys, and make another job', async () => {
  const { engine, submission } = world()
  const labels = { constructor: 'c', prototype: 'p', hasOwnProperty: 'h' }
  const odd = await engine.submit(submission({ labels, input: labels }))
  const plain = await engine.submit(submission({ input: {} }))
  expect(odd.labels).toEqual(labels)
  expect(plain.labels).toEqual({})
  expect(odd.jobId).not.toBe(plain.jobId)
  expect((await engine.list({ label: 'constructor=c' })).items.map((job) => job.jobId)).toEqual([odd.jobId])
})
