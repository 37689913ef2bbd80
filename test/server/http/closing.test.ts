import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { openWorkplace } from '../../../server/compose.ts'
import { Config } from '../../../server/config.ts'
import { defineJob } from '../../../server/defineJob.ts'
import { ask } from '../../support/asking.ts'
import { until } from '../../support/until.ts'

/** A job type that works until its job is to stop, and at most so many times. */
const patient = defineJob({
  type: 'patient',
  version: 1,
  input: z.unknown(),
  stages: [
    {
      name: 'wait',
      run: (ctx) =>
        new Promise<null>((resolve) => {
          ctx.signal.addEventListener('abort', () => resolve(null), { once: true })
        }),
    },
  ],
})

/** A server with a worker in this process, as `knovaryn server` has it. */
const serving = async (over: { drainMs?: number; workers?: number } = {}) => {
  const workplace = await openWorkplace(Config.parse({ store: 'memory:' }), { env: {}, log: () => {}, definitions: [patient] })
  const stop = new AbortController()
  let served: Promise<void> = Promise.resolve()
  const url = await new Promise<string>((onListening, reject) => {
    served = workplace.serve({ host: '127.0.0.1', port: 0, onListening, ...over }, stop.signal)
    served.catch(reject)
  })
  onTestFinished(async () => {
    stop.abort()
    await served
    await workplace.close()
  })
  return { url, engine: workplace.engine, stop: () => stop.abort(), served }
}

/** A connection that has begun to store a file of ten bytes, with five of them. */
const begun = async (url: string) => {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  let heard = ''
  socket.setEncoding('utf8').on('data', (more: string) => (heard += more))
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.write('POST /v1/artifacts HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\nfirst')
  // The server says so once it has begun to read.
  await until('the request to be open', () => heard.startsWith('HTTP/1.1 100 Continue'))
  return { finish: () => socket.write('after'), heard: () => heard.replace('HTTP/1.1 100 Continue\r\n\r\n', ''), closed }
}

const refusesConnections = async (url: string): Promise<boolean> =>
  fetch(`${url}/healthz`).then(
    () => false,
    () => true,
  )

test('a server that is to stop lets an open request end and takes no new one', async () => {
  const { url, stop, served } = await serving({ workers: 0 })
  const open = await begun(url)
  stop()
  await until('new connections to be refused', () => refusesConnections(url))
  open.finish()
  await open.closed
  expect(open.heard()).toMatch(/^HTTP\/1\.1 201 .*"bytes":10/s)
  await served
})

test('a request that does not end is cut at the deadline', async () => {
  const { url, stop, served } = await serving({ workers: 0, drainMs: 50 })
  const open = await begun(url)
  stop()
  await served
  await open.closed
  expect(open.heard()).toBe('')
})

test('the workers of a server drain with it: a job at work is given back', async () => {
  const { url, engine, stop, served } = await serving()
  const { json } = await ask(url, { method: 'POST', path: '/v1/jobs', body: { type: 'patient' } })
  await until('the job to be at work', async () => (await engine.status(json.jobId)).state === 'running')
  stop()
  await served
  const { items } = await engine.events(json.jobId)
  expect(items.at(-1)).toMatchObject({ type: 'LeaseReleased', data: { reason: 'drain' } })
})

test('a server without workers leaves jobs to others', async () => {
  const { url, engine } = await serving({ workers: 0 })
  const { json } = await ask(url, { method: 'POST', path: '/v1/jobs', body: { type: 'patient' } })
  expect((await engine.events(json.jobId)).items.map(({ type }) => type)).toEqual(['JobSubmitted'])
})
