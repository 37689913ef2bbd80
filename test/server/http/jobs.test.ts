import { expect, test } from 'vitest'
import { serverBench } from '../../support/serverBench.ts'

const post = (body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json', ...headers },
})
const batch = {
  type: 'batch',
  files: [{ name: 'prompts.jsonl', text: '{"id":"a","prompt":"Why?"}' }],
  provider: { name: 'offline' },
  model: 'offline-small',
}

test('a job that is submitted is there, and the same again is the same job', async () => {
  const { url, faults } = await serverBench()
  const made = await fetch(`${url}/v1/jobs`, post(batch))
  const job = (await made.json()) as { jobId: string }
  expect([made.status, job]).toMatchObject([201, { state: 'queued', existing: false, projectId: 'default' }])
  const again = await fetch(`${url}/v1/jobs`, post(batch))
  expect([again.status, await again.json()]).toMatchObject([200, { jobId: job.jobId, existing: true }])
  const list = await fetch(`${url}/v1/jobs`)
  expect(await list.json()).toMatchObject({ items: [{ jobId: job.jobId }], nextCursor: null })
  const bad = await fetch(`${url}/v1/jobs`, post({ ...batch, labells: {} }))
  expect([bad.status, bad.headers.get('content-type')]).toEqual([400, 'application/problem+json; charset=utf-8'])
  expect(await bad.json()).toMatchObject({ detail: 'body: unknown field "labells": did you mean "labels"?' })
  expect(faults).toEqual([])
})
