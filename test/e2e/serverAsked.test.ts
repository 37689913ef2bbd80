import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { batchFolder } from '../support/batchFiles.ts'
import { offline, promptLines } from '../support/cliInProcess.ts'
import { killAll, knovarynJson, startKnovaryn } from '../support/processes.ts'
import { until } from '../support/until.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await killAll()
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

const count = 60

test('whoever waits for a job of a server gets it, though the server is killed in the middle and comes back', async () => {
  const folder = await batchFolder(promptLines(count), { offline: { latencyMs: 200 } })
  cleanups.push(folder.remove)
  const out = folder.at('out')
  const serve = async (port: string) => {
    const server = startKnovaryn(['server', '--port', port, '--lease', '2', '--json', ...folder.store])
    return { server, url: (JSON.parse(await server.line(/^\{"url"/)) as { url: string }).url }
  }

  const { server, url } = await serve('0')
  const env = { KNOVARYN_SERVER: url }
  const waiting = startKnovaryn(['submit', folder.at('prompts.jsonl'), ...offline, '--wait', '--out', out], { env })
  const callsMade = async (): Promise<number> => {
    const { items } = await knovarynJson<{ items: { callsMade: number }[] }>(['job', 'list'], { env })
    return items[0]?.callsMade ?? 0
  }
  await until('the job to be at its calls', async () => (await callsMade()) >= 8)
  await server.kill()
  expect(waiting.hasExited()).toBe(false)
  await serve(new URL(url).port)

  expect({ ...(await waiting.exited), stderr: waiting.stderr() }).toMatchObject({ code: 0 })
  const lines = readFileSync(join(out, 'results.jsonl'), 'utf8').trimEnd().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(Array.from({ length: count }, (_, at) => `line-${at}`))
  expect(await knovarynJson(['log', 'verify'], { env })).toMatchObject({ jobs: 1, findings: [] })
})
