import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { workplaceOn } from '../../support/workplaceOn.ts'

type Message = { readonly id?: number; readonly result?: { readonly structuredContent?: object } }

/** A workplace that serves one client, whose lines are what a test writes. */
const serving = async () => {
  const place = await workplaceOn('memory:')
  onTestFinished(() => place.close())
  const [input, output, stop] = [new PassThrough(), new PassThrough(), new AbortController()]
  const served = place.mcp({ input, output }, stop.signal)
  const told = text(output)
  const answers = async (): Promise<readonly Message[]> => (await told).split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as Message)
  return { place, input, output, stop, served, answers }
}

const line = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
const clientInfo = { name: 'test', version: '1' }
const hello = line({ id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } })
const list = line({ id: 1, method: 'tools/call', params: { name: 'knovaryn_list_jobs', arguments: {} } })

describe('a client at standard input', () => {
  test('that asks and closes its end at once is answered', async () => {
    const { input, served, answers } = await serving()
    input.end(hello + list)
    await served
    expect(await answers()).toMatchObject([{ id: 0 }, { id: 1, result: { structuredContent: { items: [] } } }])
  })

  test('is answered what it has asked when a signal comes', async () => {
    const { input, stop, served, answers } = await serving()
    input.write(hello + list)
    stop.abort()
    await served
    expect(await answers()).toMatchObject([{ id: 0 }, { id: 1 }])
  })

  test.each([
    ['that is no JSON', '{"jsonrpc":\n'],
    ['that is no message', '{"hello":"world"}\n'],
    ['that is no text', Buffer.from([0xff, 0xfe, 0x0a])],
  ])('is answered after a line %s, of which the log tells', async (_, broken) => {
    const { place, input, served, answers } = await serving()
    input.write(broken)
    input.end(hello + list)
    await served
    expect(await answers()).toMatchObject([{ id: 0 }, { id: 1 }])
    expect(place.logged).toMatchObject([{ message: expect.stringContaining('MCP client') }])
  })

  test('that never ends its line is left once that is too long', async () => {
    const { place, input, served } = await serving()
    input.write('x'.repeat(11 * 1_024 * 1_024))
    await served
    expect(place.logged).toMatchObject([{ message: expect.stringContaining('maximum size') }])
  })

  test('that reads no more is left', async () => {
    const { output, served, answers } = await serving()
    const told = answers().catch(() => [])
    output.destroy(new Error('EPIPE'))
    await served
    expect(await told).toEqual([])
  })
})
