import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { webhookReceiver } from '../adapters/hooks/webhookReceiver.ts'
import { offline, promptLines } from '../support/cliInProcess.ts'
import { killAll, knovaryn, knovarynJson, startKnovaryn } from '../support/processes.ts'

afterEach(killAll)

test('a worker that is killed between the end of a job and its answer tells of that end once it is started again', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'knovaryn-hooks-'))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  writeFileSync(join(cwd, 'p.jsonl'), promptLines(2))
  let isDeaf = true
  const receiver = await webhookReceiver((response) => void (isDeaf || response.writeHead(204).end()))
  const env = { KNOVARYN_WEBHOOK: receiver.url, KNOVARYN_WEBHOOK_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }

  const first = startKnovaryn(['worker'], { cwd, env })
  await first.line(/working jobs/)
  const { jobId } = await knovarynJson<{ jobId: string }>(['submit', 'p.jsonl', ...offline], { cwd })
  await receiver.arrivals(1)
  await first.kill()
  expect(await knovarynJson(['job', 'status', jobId], { cwd })).toMatchObject({ state: 'succeeded' })
  isDeaf = false
  const second = startKnovaryn(['worker'], { cwd, env })
  await receiver.arrivals(2)
  await second.line(new RegExp(`webhook http\\S+ was told of job ${jobId} \\(job\\.succeeded\\)`))
  second.signal('SIGTERM')
  expect(await second.exited).toEqual({ code: 0, signal: null })

  const third = await knovaryn(['worker', '--once'], { cwd, env })
  expect(third.code).toBe(0)
  expect(receiver.received).toHaveLength(2)
  const [lost, told] = receiver.received
  expect(told?.headers['webhook-id']).toBe(lost?.headers['webhook-id'])
  expect(told?.body).toBe(lost?.body)
  expect(second.stderr() + third.stderr).not.toMatch(/whsec_|MfKQ|t0ken/)
})
