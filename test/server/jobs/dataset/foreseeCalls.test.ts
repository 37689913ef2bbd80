import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { offlineCompletion } from '../../../../adapters/providers/offline.ts'
import type { JobSettings } from '../../../../server/defineJob.ts'
import { foreseeCalls } from '../../../../server/jobs/dataset/foreseeCalls.ts'
import { inspectDocuments } from '../../../../server/jobs/dataset/inspectDocuments.ts'

const folder = new URL('../../../../server/cli/demo/documents/', import.meta.url)
const demoFiles = readdirSync(folder).map((name) => ({ name, content: new Uint8Array(readFileSync(new URL(name, folder))) }))

const foreseen = async (over: Partial<JobSettings> = {}, files = demoFiles) => {
  const settings = { model: 'offline-small', parameters: {}, target: null, ...over }
  const given = files.map((file) => {
    const sha256 = createHash('sha256').update(file.content).digest('hex')
    return { file, ref: { sha256, bytes: file.content.byteLength, mediaType: 'application/octet-stream' } }
  })
  const { input } = inspectDocuments(given, settings)
  const read = async ({ sha256 }: { sha256: string }) => given.find(({ ref }) => ref.sha256 === sha256)!.file.content
  const calls = []
  for await (const call of foreseeCalls(input, { ...settings, read })) calls.push(call)
  return calls
}

describe('the calls a dataset foresees', () => {
  test('bring as many examples as are wanted', async () => {
    const calls = await foreseen({ target: 30, parameters: { chunkTokens: 100 } })
    expect(calls.reduce((sum, { examples = 0 }) => sum + examples, 0)).toBe(30)
    expect(calls.every(({ stage, request }) => stage === 'generate' && request.model === 'offline-small')).toBe(true)
  })

  test.each([
    [90, null],
    [90, 100],
    [200, null],
    [400, 40],
  ])('of %i tokens a chunk and target %j take the output that the offline provider bills, give or take 15 percent', async (chunkTokens, target) => {
    const calls = await foreseen({ target, parameters: { chunkTokens } })
    const expected = calls.reduce((sum, { outputTokens = 0 }) => sum + outputTokens, 0)
    const billed = calls.reduce((sum, { request }) => sum + offlineCompletion(request).usage.outputTokens, 0)
    expect(expected / billed).toBeGreaterThan(0.85)
    expect(expected / billed).toBeLessThan(1.15)
  })

  test('refuse what the stages before them would', async () => {
    await expect(foreseen({ target: 1_000_000 })).rejects.toThrow(/^1000000 examples cannot be planned/)
    const content = new TextEncoder().encode('Whoever wants a berth for the winter writes to jane.roe@harbour-office.org in August.')
    await expect(foreseen({ parameters: { privacy: 'block' } }, [{ name: 'a.txt', content }])).rejects.toThrow(/^a\.txt has an e-mail address/)
  })
})
