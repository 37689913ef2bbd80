import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type * as SpawnOfflineServer from '../../../adapters/providers/spawnOfflineServer.ts'
import { openaiProvider } from '../../../adapters/providers/openai.ts'
import { systemClock } from '../../../adapters/system/systemClock.ts'
import { call } from './scriptedHttp.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const programs = ['spawnOfflineServer.ts', 'offlineServerProcess.ts'].map((file) =>
  join(root, 'adapters/providers', file),
)

let folder: string
/** The process runs what is compiled, as it does for a user. */
let spawn: typeof SpawnOfflineServer.spawnOfflineServer
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'offline-process-'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const compilerOptions = { rootDir: root, outDir: folder, typeRoots: [join(root, 'node_modules/@types')] }
  const config = join(folder, 'tsconfig.json')
  writeFileSync(
    config,
    JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: [], files: programs }),
  )
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', config], { stdio: 'pipe' })
  const compiled = (await import(
    pathToFileURL(join(folder, 'adapters/providers/spawnOfflineServer.js')).href
  )) as typeof SpawnOfflineServer
  spawn = compiled.spawnOfflineServer
})
afterAll(() => rmSync(folder, { recursive: true }))

test('the offline server answers from a process of its own, which ends when it is told to', async () => {
  const callLog = join(folder, 'calls.jsonl')
  const server = await spawn({ callLog, replaysForSeconds: 60 })
  const provider = openaiProvider({ baseUrl: server.baseUrl, clock: systemClock() })
  const sending = { signal: new AbortController().signal, idempotencyKey: 'job:a:1', deadlineMs: 10_000 }
  const first = await provider.complete(call, sending)
  expect(await provider.complete(call, sending)).toEqual(first)
  await server.close()
  await expect(provider.complete(call, sending)).rejects.toMatchObject({ code: 'connection_failed', billed: 'no' })
  const billed = readFileSync(callLog, 'utf8').match(/"billed":true/g)
  expect(billed).toHaveLength(1)
})
