import { describe, expect, test } from 'vitest'
import { ask } from '../../support/asking.ts'
import { serverBench } from '../../support/serverBench.ts'
import { routeBench, routeCases } from './routeCases.ts'

const described = async (): Promise<readonly string[]> => {
  const { url } = await serverBench()
  const { paths } = JSON.parse((await ask(url, { path: '/openapi.json' })).text) as { paths: Record<string, object> }
  return Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
}

test('every route that is described has a request that it serves and one that it refuses', async () => {
  // The stream of events is described with the socket, in AsyncAPI.
  const inOpenApi = Object.keys(routeCases).filter((route) => route !== 'GET /v1/events/stream')
  expect((await described()).toSorted()).toEqual(inOpenApi.toSorted())
})

describe.each(Object.entries(routeCases))('%s', (route, { accepted, refused }) => {
  const [method = ''] = route.split(' ')

  test('serves what it is for', async () => {
    const bench = await routeBench()
    const [status, asked] = await accepted(bench)
    const answer = await ask(bench.url, { ...asked, method })
    expect({ status: answer.status, text: answer.text }).toMatchObject({ status })
    expect(bench.faults).toEqual([])
  })

  test('refuses what it is not for, with a problem, and writes nothing', async () => {
    const bench = await routeBench()
    const [status, code, asked] = refused
    const answer = await ask(bench.url, { ...asked, method })
    expect(answer.json).toMatchObject({ status, code, type: `urn:knovaryn:problem:${code}` })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/problem+json; charset=utf-8'])
    expect(answer.json.detail).not.toBe('')
    expect((await bench.engine.list({})).items).toEqual([])
    expect(bench.faults).toEqual([])
  })
})
