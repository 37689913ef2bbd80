import { describe, expect, test } from 'vitest'
import { homes, importBreaches } from './importTable.ts'
import { purityBreaches } from './purity.ts'
import { codeFiles, readText } from './repository.ts'
import { importsOf } from './syntax.ts'

const code = codeFiles()

describe('the import table', () => {
  test('holds for every source file', () => {
    expect(code.length).toBeGreaterThan(20)
    expect(code.flatMap(importBreaches)).toEqual([])
  })

  test.each(Object.entries(homes))('has %s imported by %s once that file exists', (library, path) => {
    const text = readText(path)
    if (text === null) return
    expect(importsOf({ path, text }).map((found) => found.specifier)).toContain(library)
  })

  test.each([
    ['domain/sample.ts', `import { x } from '../server/engine.ts'`],
    ['domain/sample.ts', `import { x } from '../adapters/memory/eventStore.ts'`],
    ['domain/sample.ts', `import type { X } from '../projections/jobList.ts'`],
    ['domain/sample.ts', `import { x } from '../test/support/seeds.ts'`],
    ['domain/sample.ts', `import { createHash } from 'node:crypto'`],
    ['domain/sample.ts', `import fs from 'fs'`],
    ['domain/sample.ts', `import { v7 } from 'uuid'`],
    ['domain/sample.ts', `import { produce } from 'immer'`],
    ['domain/sample.ts', `import canonicalize from 'canonicalize'`],
    ['domain/sample.ts', `import { z } from 'zod/../../server/engine.ts'; import x from '../package.json'`],
    ['domain/sample.ts', `export { x } from '../server/engine.ts'`],
    ['domain/sample.ts', `export * from '../server/engine.ts'`],
    ['domain/sample.ts', `const x = import('../server/engine.ts')`],
    ['domain/sample.ts', `const x = (name: string) => import(name)`],
    ['domain/sample.ts', `type X = import('../server/engine.ts').Engine`],
    ['domain/sample.ts', `import fs = require('node:fs')`],
    ['domain/sample.ts', `const fs = require('node:fs')`],
    ['domain/sample.ts', `import '../server/engine.ts'`],
    ['domain/job/sample.ts', `import { x } from '../../projections/jobList.ts'`],
    ['domain/evolving.ts', `import canonicalize from 'canonicalize'`],
    ['projections/sample.ts', `import { produce } from 'immer'`],
    ['projections/sample.ts', `import { readFileSync } from 'node:fs'`],
    ['projections/sample.ts', `import { x } from '../server/engine.ts'`],
    ['adapters/memory/sample.ts', `import { x } from '../sqlite/eventStore.ts'`],
    ['adapters/memory/sample.ts', `import Database from 'better-sqlite3'`],
    ['adapters/memory/sample.ts', `import { x } from '../../projections/jobList.ts'`],
    ['adapters/filesystem/sample.ts', `import { x } from '../../server/engine.ts'`],
    ['adapters/sqlite/eventStore.ts', `import type { Database } from 'better-sqlite3'`],
    ['adapters/sqlite/openDatabase.ts', `import { z } from 'zod'`],
    ['adapters/sample.ts', `import { x } from '../domain/money.ts'`],
    ['server/engine.ts', `import { x } from '../adapters/memory/eventStore.ts'`],
    ['server/worker/sample.ts', `import { x } from '../../adapters/system/clock.ts'`],
    ['server/worker/sample.ts', `import Database from 'better-sqlite3'`],
    ['server/compose.ts', `import Database from 'better-sqlite3'`],
    ['server/compose.ts', `import { x } from '../test/support/seeds.ts'`],
    ['server/http/sample.ts', `import { x } from '../cli/main.ts'`],
    ['server/http/sample.ts', `import { x } from '../worker/worker.ts'`],
    ['server/http/sample.ts', `import { Command } from 'commander'`],
    ['server/mcp/sample.ts', `import { x } from '../http/jobs.ts'`],
    ['server/mcp/sample.ts', `import { x } from '../../adapters/memory/eventStore.ts'`],
    ['server/cli/sample.ts', `import { x } from '../mcp/tools.ts'`],
    ['server/cli/sample.ts', `import { x } from '../compose.ts'`],
    ['server/cli/sample.ts', `import { x } from '../../adapters/system/clock.ts'`],
    ['server/cli/sample.ts', `const x = (name: string) => import(name)`],
    ['server/client/sample.ts', `import { setTimeout } from 'node:timers/promises'`],
    ['server/client/sample.ts', `import { x } from '../engine.ts'`],
    ['server/web/sample.tsx', `import { x } from '../engine.ts'`],
    ['server/web/sample.tsx', `import { readFileSync } from 'node:fs'`],
    ['src/sample.ts', `export const x = 1`],
  ])('refuses in %s: %s', (path, text) => {
    expect(importBreaches({ path, text })).not.toEqual([])
  })

  test.each([
    ['domain/job/sample.ts', `import { z } from 'zod'; import { Usd } from '../money.ts'; export * from './job.ts'`],
    ['domain/evolving.ts', `import { produce } from 'immer'`],
    ['projections/sample.ts', `import { x } from './projection.ts'; import type { Job } from '../domain/job/job.ts'`],
    ['adapters/sqlite/openDatabase.ts', `import Database from 'better-sqlite3'; import { join } from 'node:path'`],
    ['adapters/memory/sample.ts', `import { x } from './eventStore.ts'; import { y } from '../../domain/money.ts'`],
    ['server/compose.ts', `const x = await import('../adapters/sqlite/eventStore.ts')`],
    [
      'server/worker/sample.ts',
      `import { x } from '../telemetry.ts'; import { y } from '../../projections/wakeUps.ts'`,
    ],
    ['server/cli/sample.ts', `import { Command } from 'commander'; import type { Engine } from '../engine.ts'`],
    ['test/domain/sample.ts', `import { x } from '../../adapters/sqlite/eventStore.ts'; import { y } from 'anything'`],
    ['domain/sample.ts', `// import { x } from 'node:fs'\nexport const text = "import x from 'node:fs'"`],
  ])('allows in %s: %s', (path, text) => {
    expect(importBreaches({ path, text })).toEqual([])
  })
})

describe('domain/ and projections/', () => {
  test('are functions of their arguments: no time, no chance, no host', () => {
    expect(code.flatMap(purityBreaches)).toEqual([])
  })

  const impure = [
    `const at = Date.now()`,
    `const at = Date['now']()`,
    `const at = new Date()`,
    `const at = Date()`,
    `const { now } = Date`,
    `const D = Date`,
    `const luck = Math.random()`,
    `const home = process.env['HOME']`,
    `const home = globalThis.process`,
    `const x = await y`,
    `const f = async () => 1`,
    `async function f() {}`,
    `const o = { async f() {} }`,
    `for await (const x of y) x()`,
    `setTimeout(() => {}, 1)`,
    `console.log(1)`,
    `const id = crypto.randomUUID()`,
    `const bytes = Buffer.from('')`,
    `const o = { process }`,
  ]
  test.each(
    impure.flatMap((text) => [
      ['domain/sample.ts', text],
      ['projections/sample.ts', text],
    ]),
  )('are refused in %s: %s', (path = '', text = '') => {
    expect(purityBreaches({ path, text })).not.toEqual([])
  })

  test.each([
    `const at = new Date(ms).toISOString()`,
    `const ms = Date.parse(text)`,
    `const least = Math.min(1, 2)`,
    `const run = (job: { process: string }) => job.process`,
    `const o = { process: 1, fetch: 2 }`,
    `type Later = { run(): Promise<void> }`,
    `// Date.now() and await are for others`,
  ])('may say: %s', (text) => {
    expect(purityBreaches({ path: 'domain/sample.ts', text })).toEqual([])
  })

  test('bind nobody else', () => {
    expect(purityBreaches({ path: 'adapters/system/clock.ts', text: 'const at = Date.now()' })).toEqual([])
  })
})
