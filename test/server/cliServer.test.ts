import { expect, test } from 'vitest'
import { cliBench } from '../support/cliInProcess.ts'

test('server prints its address, and a signal that drains it is its proper end', async () => {
  const bench = await cliBench()
  const running = bench.run('server', '--port', '0')
  await bench.heard()
  bench.interrupt()
  const { code, stdout, stderr } = await running
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\n$/) })
  expect(stderr).toMatch(/serving jobs of memory:.*\n.*draining|draining.*\n(.*\n)*.*drained/)
})

test('server --json prints its address as one document', async () => {
  const bench = await cliBench()
  const running = bench.json('server', '--port', '0', '--workers', '0')
  await bench.heard()
  bench.interrupt()
  expect(await running).toMatchObject({ code: 0, document: { url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) } })
})

test('O-30: server on an address that others reach is refused without a token, by the name of the option', async () => {
  const bench = await cliBench()
  const { code, stderr } = await bench.run('server', '--host', '0.0.0.0', '--port', '0')
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('--host 0.0.0.0 can be reached from other machines') })
})

test('O-30: neither does a variable open it', async () => {
  const bench = await cliBench({ env: { KNOVARYN_SERVER_HOST: '0.0.0.0', KNOVARYN_SERVER_PORT: '0' } })
  expect((await bench.run('server')).code).toBe(2)
})
