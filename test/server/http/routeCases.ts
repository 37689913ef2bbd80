import { createServer, type AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import { defineJob } from '../../../server/defineJob.ts'
import { sha256 } from '../../../adapters/system/sha256.ts'
import type { Ask } from '../../support/asking.ts'
import { tenCentsAtWorst } from '../../support/batchFiles.ts'
import { serverBench } from '../../support/serverBench.ts'

export const prompts = '{ "id": "q", "prompt": "Why?" }\n'

/** A batch of one prompt, as a client asks for it. */
export const batch = (over: object = {}): object => ({
  type: 'batch',
  files: [{ name: 'prompts.jsonl', text: prompts }],
  provider: { name: 'offline' },
  model: 'offline-small',
  ...over,
})

/** A job type that asks nobody and fails at once. */
const failing = defineJob({
  type: 'failing',
  version: 1,
  input: z.unknown(),
  stages: [
    {
      name: 'only',
      run: async () => {
        throw new TypeError('it cannot be done')
      },
    },
  ],
})

/** The id of a new job of the engine. */
type Makes = () => Promise<string>

/** A server with a job in each of the states that routes ask for. */
export const routeBench = async () => {
  const bench = await serverBench({ definitions: [failing], providers: { cutting: { baseUrl: await cuttingProvider() } } })
  const { engine, workplace } = bench
  const queued: Makes = async () => (await engine.submit(submission('queued'))).jobId
  const worked = async (jobId: string): Promise<string> => {
    await workplace.work({ once: true })
    return jobId
  }
  return {
    ...bench,
    queued,
    paused: async () => (await engine.pause(await queued())).jobId,
    succeeded: async () => worked(await queued()),
    failed: async () => worked((await engine.submit({ type: 'failing', input: null })).jobId),
    held: async () =>
      worked(
        (
          await engine.submit({
            ...submission('held'),
            provider: { name: 'cutting' },
            model: 'scripted',
            priceProfiles: [{ ...tenCentsAtWorst, provider: 'cutting' }],
            maxAttempts: 1,
            callAttempts: 1,
          })
        ).jobId,
      ),
  }
}
export type RouteBench = Awaited<ReturnType<typeof routeBench>>

const submission = (idempotencyKey: string) => ({
  type: 'batch',
  files: [{ name: 'prompts.jsonl', content: new TextEncoder().encode(prompts) }],
  provider: { name: 'offline' },
  model: 'offline-small',
  idempotencyKey,
})

/** Takes every request and hangs up: whether it was billed nobody knows. */
const cuttingProvider = async (): Promise<string> => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

type Case = {
  /** A request that is served, and the status of its answer. */
  readonly accepted: (bench: RouteBench) => Promise<readonly [status: number, ask: Ask]> | readonly [status: number, ask: Ask]
  /** One that is not. */
  readonly refused: readonly [status: number, code: string, ask: Ask]
}

const noSuchJob = '0123456789abcdef0123456789abcdef'
const ofJob =
  (makes: (bench: RouteBench) => Promise<string>, rest: string, body?: unknown): Case['accepted'] =>
  async (bench) => [200, { path: `/v1/jobs/${await makes(bench)}${rest}`, body }]
const unknownJob = (rest: string, body?: unknown): Case['refused'] => [404, 'job_not_found', { path: `/v1/jobs/${noSuchJob}${rest}`, body }]
const aFile = new TextEncoder().encode('a file')

/** One request that each route serves, and one that it refuses. */
export const routeCases: Readonly<Record<string, Case>> = {
  'POST /v1/jobs': {
    accepted: () => [201, { path: '/v1/jobs', body: batch() }],
    refused: [400, 'invalid_input', { path: '/v1/jobs', body: batch({ model: 3 }) }],
  },
  'POST /v1/jobs/estimate': {
    accepted: () => [200, { path: '/v1/jobs/estimate', body: batch() }],
    refused: [400, 'unpriced_model', { path: '/v1/jobs/estimate', body: batch({ model: 'offline-huge' }) }],
  },
  'GET /v1/log/verify': {
    accepted: () => [200, { path: '/v1/log/verify' }],
    refused: [400, 'invalid_input', { path: '/v1/log/verify?fast=1' }],
  },
  'GET /v1/projections/{name}/verify': {
    accepted: () => [200, { path: '/v1/projections/jobList/verify' }],
    refused: [400, 'invalid_input', { path: '/v1/projections/jobsList/verify' }],
  },
  'POST /v1/jobs/find': {
    accepted: () => [200, { path: '/v1/jobs/find', body: batch() }],
    refused: [400, 'invalid_input', { path: '/v1/jobs/find', body: batch({ type: 'bach' }) }],
  },
  'GET /v1/jobs': {
    accepted: async ({ queued }) => (await queued(), [200, { path: '/v1/jobs?state=queued&limit=10' }]),
    refused: [400, 'invalid_input', { path: '/v1/jobs?state=asleep' }],
  },
  'GET /v1/jobs/{id}': { accepted: ofJob(({ queued }) => queued(), ''), refused: unknownJob('') },
  'GET /v1/jobs/{id}/events': {
    accepted: ofJob(({ succeeded }) => succeeded(), '/events?afterRevision=0&limit=3'),
    refused: [400, 'invalid_input', { path: `/v1/jobs/${noSuchJob}/events?limit=0` }],
  },
  'GET /v1/jobs/{id}/history': {
    accepted: ofJob(({ succeeded }) => succeeded(), '/history'),
    refused: [400, 'invalid_input', { path: `/v1/jobs/${noSuchJob}/history?afterRevision=-1` }],
  },
  'GET /v1/jobs/{id}/checkpoints': { accepted: ofJob(({ succeeded }) => succeeded(), '/checkpoints'), refused: unknownJob('/checkpoints') },
  'GET /v1/jobs/{id}/ledger': { accepted: ofJob(({ succeeded }) => succeeded(), '/ledger'), refused: unknownJob('/ledger') },
  'GET /v1/jobs/{id}/audit': { accepted: ofJob(({ succeeded }) => succeeded(), '/audit'), refused: unknownJob('/audit') },
  'GET /v1/jobs/{id}/output': { accepted: ofJob(({ succeeded }) => succeeded(), '/output'), refused: unknownJob('/output') },
  'POST /v1/jobs/{id}/pause': { accepted: ofJob(({ queued }) => queued(), '/pause'), refused: unknownJob('/pause') },
  'POST /v1/jobs/{id}/cancel': {
    accepted: ofJob(({ queued }) => queued(), '/cancel', {}),
    refused: [400, 'invalid_input', { path: `/v1/jobs/${noSuchJob}/cancel`, body: { force: true } }],
  },
  'POST /v1/jobs/{id}/retry': { accepted: ofJob(({ failed }) => failed(), '/retry'), refused: unknownJob('/retry') },
  'POST /v1/jobs/{id}/resume': {
    accepted: ofJob(({ paused }) => paused(), '/resume', { limits: { maximumCostUsd: '60' } }),
    refused: [400, 'invalid_input', { path: `/v1/jobs/${noSuchJob}/resume`, body: { limits: { maximumCost: '60' } } }],
  },
  'POST /v1/jobs/{id}/budget': {
    accepted: ofJob(({ queued }) => queued(), '/budget', { limits: { maximumCalls: 20_000 } }),
    refused: [400, 'invalid_input', { path: `/v1/jobs/${noSuchJob}/budget`, body: { limits: {} } }],
  },
  'POST /v1/jobs/{id}/reconcile': {
    accepted: ofJob(({ held }) => held(), '/reconcile', { call: 1, billed: true, costUsd: '0.03' }),
    refused: [400, 'invalid_input', { path: `/v1/jobs/${noSuchJob}/reconcile`, body: { call: 1, billed: 'perhaps' } }],
  },
  'POST /v1/artifacts': {
    accepted: () => [201, { path: '/v1/artifacts?projectId=red', raw: aFile, headers: { 'content-type': 'application/octet-stream' } }],
    refused: [400, 'invalid_input', { path: '/v1/artifacts?project=red', raw: aFile }],
  },
  'GET /v1/artifacts/{sha256}': {
    accepted: async ({ engine }) => [200, { path: `/v1/artifacts/${(await engine.putFile('red', aFile)).sha256}?projectId=red` }],
    refused: [404, 'artifact_not_found', { path: `/v1/artifacts/${sha256(aFile)}?projectId=blue` }],
  },
  'GET /v1/projections': {
    accepted: () => [200, { path: '/v1/projections' }],
    refused: [400, 'invalid_input', { path: '/v1/projections?all' }],
  },
  'POST /v1/projections/{name}/rebuild': {
    accepted: () => [200, { path: '/v1/projections/jobList/rebuild' }],
    refused: [400, 'invalid_input', { path: '/v1/projections/jobsList/rebuild' }],
  },
  'POST /v1/session': {
    accepted: async ({ token }) => [200, { path: '/v1/session', body: { token: await token('read') } }],
    refused: [401, 'unauthenticated', { path: '/v1/session', body: { token: 'made-up' } }],
  },
  'DELETE /v1/session': {
    accepted: () => [204, { path: '/v1/session' }],
    refused: [403, 'foreign_origin', { path: '/v1/session', headers: { origin: 'http://elsewhere.example' } }],
  },
  'GET /v1/events/stream': {
    accepted: () => [200, { path: '/v1/events/stream?after=start' }],
    refused: [400, 'invalid_input', { path: '/v1/events/stream?after=start&kind=all' }],
  },
  'GET /healthz': {
    accepted: () => [200, { path: '/healthz' }],
    refused: [403, 'foreign_origin', { path: '/healthz', headers: { origin: 'http://elsewhere.example' } }],
  },
  'GET /readyz': {
    accepted: () => [200, { path: '/readyz' }],
    refused: [403, 'foreign_origin', { path: '/readyz', headers: { origin: 'http://elsewhere.example' } }],
  },
}
