import { describe, expect, test } from 'vitest'
import { serverBench } from '../../support/serverBench.ts'
import { agentOf, batch } from '../../support/mcpAgents.ts'

const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } } }

const post = (url: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

test('over HTTP an agent estimates, submits a batch, polls it to its end and reads its cost', async () => {
  const { url, workplace, faults } = await serverBench()
  const agent = await agentOf(url)
  expect((await agent.client.listTools()).tools).toHaveLength(9)

  const { value: estimate } = await agent.answer('knovaryn_estimate_job', batch(3))
  expect(estimate).toMatchObject({ foreseen: true, total: { calls: 3 }, exceeds: [] })
  const { jobId } = (await agent.answer('knovaryn_submit_job', batch(3))).value.job
  await workplace.work({ once: true })

  const { value, text } = await agent.answer('knovaryn_get_job', { jobId })
  expect(value).toMatchObject({ job: { state: 'succeeded', budget: { callsMade: 3 } } })
  expect(value.job['actualCostUsd']).toBe((await workplace.engine.ledger(jobId)).totals.spent.costUsd)
  expect(text).toContain(`Cost ${String(value.job['actualCostUsd'])} of at most 1`)
  expect(faults).toEqual([])
})

describe('every request is let in by its own token:', () => {
  test('of another project an agent sees nothing by any tool, and changes nothing', async () => {
    const { url, engine, token } = await serverBench()
    const [mine, others] = [await agentOf(url, await token('operate', ['mine'])), await agentOf(url, await token('operate', ['others']))]
    const { jobId } = (await mine.answer('knovaryn_submit_job', { ...batch(), projectId: 'mine', idempotencyKey: 'k' })).value.job
    await others.answer('knovaryn_submit_job', { ...batch(), projectId: 'others' })
    const before = await engine.status(jobId)

    const { tools } = await others.client.listTools()
    const [ofOneJob, rest] = [true, false].map((isOfOne) => tools.filter(({ inputSchema }) => (inputSchema.required ?? []).includes('jobId') === isOfOne))
    expect(ofOneJob).toHaveLength(6)
    for (const { name } of ofOneJob ?? []) {
      for (const handle of [jobId, jobId.slice(0, 12)]) {
        const refusal = await others.refusal(name, { jobId: handle })
        expect(refusal).toMatchObject({ code: 'job_not_found' })
        // In the very words for a job that was never there.
        const { message } = await others.refusal(name, { jobId: 'nobody' })
        expect(refusal.message.replace(handle, '')).toBe(message.replace('nobody', ''))
      }
    }
    const listed = await others.answer('knovaryn_list_jobs')
    expect(listed.value['items']).toMatchObject([{ projectId: 'others' }])
    for (const { name } of rest ?? []) {
      const asked = name === 'knovaryn_list_jobs' ? {} : { ...batch(), idempotencyKey: 'k' }
      expect(await others.refusal(name, { ...asked, projectId: 'mine' })).toMatchObject({ code: 'forbidden' })
    }
    expect(await engine.status(jobId)).toEqual(before)
  })

  test('none, an unknown one and a revoked one are refused', async () => {
    const { url, workplace, token } = await serverBench()
    const revoked = await token('operate')
    const agent = await agentOf(url, revoked)
    await agent.answer('knovaryn_list_jobs')
    const [listed] = await workplace.access.list()
    await workplace.access.revoke(listed?.id ?? '')

    await expect(agent.answer('knovaryn_list_jobs')).rejects.toThrow(/unauthenticated|401/)
    for (const headers of [{}, { authorization: `Bearer ${revoked}` }, { authorization: 'Bearer made-up' }]) {
      const refused = await post(url, initialize, headers)
      expect(refused.status).toBe(401)
      expect(refused.headers.get('www-authenticate')).toBe('Bearer')
    }
  })
})

describe('a request that is none is refused, and nothing is written:', () => {
  test.each([
    ['of a page of another server', 403, initialize, { origin: 'http://evil.example' }],
    ['that is no JSON', 400, '{"jsonrpc":', {}],
    ['that says a field twice', 400, '{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping"}', {}],
    ['without a body', 400, '', {}],
    ['that is no message', 400, { hello: 'world' }, {}],
    ['that is nested without end', 400, '['.repeat(100_000), {}],
    ['of another type', 415, 'hello', { 'content-type': 'text/plain' }],
    ['that takes no JSON for an answer', 406, initialize, { accept: 'text/html' }],
    ['of a protocol that is not spoken', 400, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, { 'mcp-protocol-version': '1999-01-01' }],
  ])('%s', async (_, status, body, headers) => {
    const { url, engine, faults } = await serverBench()
    const refused = await post(url, body, headers)
    expect(refused.status).toBe(status)
    expect(await refused.text()).not.toMatch(/node_modules|\.[jt]s:\d/)
    expect(faults).toEqual([])
    expect((await engine.list({})).items).toEqual([])
  })

  test('one for a stream, or for the end of a session: the server keeps neither', async () => {
    const { url } = await serverBench()
    for (const method of ['GET', 'DELETE']) {
      const refused = await fetch(`${url}/mcp`, { method, headers: { accept: 'text/event-stream' } })
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST'])
    }
  })

  test('its own page is answered', async () => {
    const { url } = await serverBench()
    const answered = await post(url, initialize, { origin: url })
    expect(await answered.json()).toMatchObject({ id: 1, result: { serverInfo: { name: 'knovaryn' } } })
    expect((await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202)
  })
})
