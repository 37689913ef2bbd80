import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { openLog } from '../support/killingLog.ts'
import { killAll, startNode } from '../support/processes.ts'
import { until } from '../support/until.ts'

/** The package as users have it: packed, installed into an empty folder, with the README's own code beside it. */

const repository = fileURLToPath(new URL('../../', import.meta.url))
const driver = 'node_modules/better-sqlite3/build/Release/better_sqlite3.node'
const texts = Array.from({ length: 24 }, (_, nth) => `sentence number ${nth} is to be translated`)

let folder: string
const at = (...parts: readonly string[]): string => join(folder, ...parts)

/** What the README quotes, letter for letter. */
const quoted = (file: string): string => {
  const readme = readFileSync(join(repository, 'README.md'), 'utf8')
  const [, code] = new RegExp(`<!-- from test/examples/${file}\\.ts#\\w+ -->\\n\`\`\`ts\\n(.*?)\`\`\``, 's').exec(readme) ?? []
  if (code === undefined) throw new Error(`the README quotes nothing of ${file}`)
  return code
}

const run = (program: string, args: readonly string[], cwd: string): string =>
  execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'knovaryn-package-'))
  // It was built beforehand; and the driver, which takes a minute to compile, is taken from here.
  const tarball = run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], repository).trim()
  writeFileSync(at('package.json'), '{ "private": true, "type": "module" }')
  run('npm', ['install', '--silent', '--ignore-scripts', '--prefer-offline', `./${tarball}`, 'zod'], folder)
  mkdirSync(at('node_modules/better-sqlite3/build/Release'), { recursive: true })
  cpSync(join(repository, driver), at(driver))
  for (const file of ['ownJob', 'asLibrary']) writeFileSync(at(`${file}.mjs`), quoted(file))
  writeFileSync(at('input.json'), JSON.stringify({ texts, into: 'French' }))
  writeFileSync(at('slow.json'), JSON.stringify({ providers: { offline: { latencyMs: 100 } } }))
}, 180_000)
afterEach(killAll)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The program that the package puts on the path. */
const installed = (...args: readonly string[]) => startNode([at('node_modules/.bin/knovaryn'), ...args], { cwd: folder })

const translates = (store: string, out: string): readonly string[] => [
  ...['run', '--type', 'translate', '--jobs', 'ownJob.mjs', '--input', 'input.json', '--provider', 'offline'],
  ...['--model', 'offline-small', '--concurrency', '2', '--config', 'slow.json', '--store', `sqlite:${store}`, '--out', out],
]

test('its types say what a job of one’s own may do', () => {
  writeFileSync(
    at('wrong.mts'),
    quoted('ownJob').replace('ctx.checkpoint(key, translated[index])', 'ctx.checkpoint(key, index)').replace('ctx.input.into', 'ctx.input.onto'),
  )
  const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022', '--types', 'node', '--typeRoots', join(repository, 'node_modules/@types')]
  const compiled = (file: string): string => {
    try {
      return run(join(repository, 'node_modules/.bin/tsc'), [...options, file], folder)
    } catch (error) {
      return String((error as { stdout?: unknown }).stdout)
    }
  }
  writeFileSync(at('right.mts'), quoted('ownJob'))
  expect(compiled('right.mts')).toBe('')
  expect(compiled('wrong.mts')).toMatch(/'onto' does not exist[^]*'number' is not assignable to parameter of type 'string'/)
})

test('it works as a library', async () => {
  const program = startNode(['asLibrary.mjs'], { cwd: folder })
  expect(await program.exited).toEqual({ code: 0, signal: null })
  expect(program.stdout()).toMatch(/^succeeded 0\.\d+\ntranslations\.txt Translate into French: good morning\n/)
})

test('a job of one’s own survives a SIGKILL: the same command goes on, pays nothing twice, and leaves the same bytes', async () => {
  const undisturbed = installed(...translates('calm', 'calm-results'))
  expect(await undisturbed.exited).toEqual({ code: 0, signal: null })

  const killed = installed(...translates('killed', 'results'))
  await killed.line(/translate/)
  const log = openLog(at('killed'))
  const jobId = await until('a job', () => log.newest())
  await until('some answers', () => log.count(jobId, 'ProviderCallSettled') >= 5 || undefined, { everyMs: 2 })
  await killed.kill()
  const answered = log.count(jobId, 'ProviderCallSettled')
  expect(answered).toBeLessThan(texts.length)

  const again = installed(...translates('killed', 'results'))
  expect(await again.exited).toEqual({ code: 0, signal: null })
  const reserved = log.events(jobId).flatMap((event) => (event.type === 'ProviderCallReserved' ? [event.data] : []))
  const settled = log.events(jobId).flatMap((event) => (event.type === 'ProviderCallSettled' ? [event.data.call] : []))
  log.close()
  const fingerprints = settled.map((call) => reserved.find((each) => each.call === call)?.fingerprint)
  expect(new Set(fingerprints).size).toBe(texts.length)
  expect(settled).toHaveLength(texts.length)
  expect(readFileSync(at('results/translations.txt'))).toEqual(readFileSync(at('calm-results/translations.txt')))
})
