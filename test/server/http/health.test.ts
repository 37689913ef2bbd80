import { expect, onTestFinished, test } from 'vitest'
import { StoreUnavailable } from '../../../domain/errors.ts'
import { ask } from '../../support/asking.ts'
import { asks, heldProvider, heldWorld } from '../../support/heldPlace.ts'
import { serverBench } from '../../support/serverBench.ts'
import { until } from '../../support/until.ts'

/** A server on a store that can be kept from being written or read, and time in the test's hand. */
const onStore = async () => {
  const world = heldWorld(asks('a'), heldProvider().provider)
  const broken = { append: false, readAll: false, silent: false }
  const away = async () => {
    throw new StoreUnavailable('the disk is full')
  }
  const { serve } = world.open({
    events: {
      ...world.events,
      append: (...given) => (broken.append ? away() : world.events.append(...given)),
      readAll: (...given) => (broken.silent ? new Promise(() => {}) : broken.readAll ? away() : world.events.readAll(...given)),
    },
  })
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const url = await new Promise<string>((onListening, reject) => {
    serve({ host: '127.0.0.1', port: 0, workers: 0, onListening }, stop.signal).catch(reject)
  })
  const readyz = async () => {
    const { status, json } = await ask(url, { path: '/readyz' })
    return [status, json['reason']]
  }
  const submit = () => ask(url, { method: 'POST', path: '/v1/jobs', body: { type: 'custom', input: null } })
  return { url, clock: world.clock, broken, readyz, submit }
}

/** What is answered, once it is. */
const told = (asked: Promise<unknown>) => {
  let answer: unknown = null
  void asked.then((given) => (answer = given))
  return { answer: () => answer }
}

test('OX-05: a server whose store cannot be written is not ready, and is again ten seconds after it can', async () => {
  const { url, clock, broken, readyz, submit } = await onStore()
  expect(await readyz()).toEqual([200, null])
  broken.append = true
  const submitting = told(submit())
  await until('the trouble to be noticed', async () => (await readyz())[0] === 503)
  expect(await readyz()).toEqual([503, 'the store could not be read or written a moment ago'])
  expect((await ask(url, { path: '/healthz' })).status).toBe(200)
  while (submitting.answer() === null) await clock.advance(5_000)
  expect(submitting.answer()).toMatchObject({ json: { status: 503, code: 'store_unavailable' } })
  broken.append = false
  await clock.advance(10_000)
  expect(await readyz()).toEqual([200, null])
})

test('a server whose store cannot be read is not ready', async () => {
  const { clock, broken, readyz } = await onStore()
  await clock.advance(1_000)
  broken.readAll = true
  expect((await readyz())[0]).toBe(503)
})

test('a server whose views do not keep up within five seconds is not ready', async () => {
  const { clock, broken, readyz, submit } = await onStore()
  await submit()
  broken.silent = true
  const asked = told(readyz())
  while (asked.answer() === null) await clock.advance(5_000)
  expect(asked.answer()).toEqual([503, 'the views do not reach the end of the log'])
})

test('many who ask at one time make one look', async () => {
  const { url } = await serverBench()
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask(url, { path: '/readyz' })))
  expect(new Set(answers.map(({ text }) => text))).toEqual(new Set(['{"status":"ready","reason":null}']))
})
