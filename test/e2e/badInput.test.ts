import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Driver from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shellQuoted } from '../../server/cli/shellQuoted.ts'
import { ownFileSystem, possible } from '../contract/ownFileSystem.ts'
import { temporaryFolder } from '../contract/temporaryFolder.ts'
import { offline, promptLines } from '../support/cliInProcess.ts'
import { killAll, knovaryn, knovarynJson } from '../support/processes.ts'

/** The real program on what it must refuse: what it says, what it exits with, and that it has written nothing. */

const { mounting } = await possible()

let folder: Awaited<ReturnType<typeof temporaryFolder>>
let jobs: readonly string[]
const at = (name: string): string => join(folder.path, name)

beforeAll(async () => {
  folder = await temporaryFolder()
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)
  const line = (more: string): string => `{"id":"a","prompt":"x"${more}}\n`
  const price = { inputPerMTok: '1', cachedInputPerMTok: '1', outputPerMTok: '1' }
  const prices = (id: string, from = '2026-01-01', over: object = {}): string =>
    JSON.stringify({ id, effectiveFrom: from, provider: 'offline', models: { m: price }, ...over })
  const files: Readonly<Record<string, string | Uint8Array>> = {
    'p.jsonl': promptLines(2),
    'malformed.jsonl': `${promptLines(1)}{"id": "b",\n`,
    'binary.jsonl': new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0]),
    'latin.jsonl': new Uint8Array([0x7b, 0xe9, 0x7d]),
    'long.jsonl': `{"id":"a","prompt":"${'x'.repeat(50_000_000)}"}\n`,
    'unknown.jsonl': '{"id":"a","promt":"x"}\n',
    'proto.jsonl': line(',"metadata":{"__proto__":1}'),
    'integer.jsonl': line(',"metadata":{"n":9007199254740993}'),
    'surrogate.jsonl': line(',"metadata":{"s":"\\ud800"}'),
    'twice.jsonl': line(',"prompt":"y"'),
    'deep.jsonl': line(`,"metadata":${deep}`),
    'deep.json': deep,
    'twice.json': '{"model":"a","model":"b"}',
    'unknown.json': '{"budgetUds":"1"}',
    'binary.json': new Uint8Array([0x7b, 0xff, 0x7d]),
    'one.json': prices('one'),
    'other.json': prices('other'),
    'day.json': prices('one', '01.02.2026'),
    'later.json': prices('one', '2999-01-01'),
    'list.json': '[]',
    'half.json': '{"id":',
    'misspelt.json': prices('one', '2026-01-01', { modells: {} }),
  }
  for (const [name, content] of Object.entries(files)) writeFileSync(at(name), content)
  mkdirSync(at('folder.jsonl'))
  symlinkSync('nowhere', at('dangling'))
  execFileSync('sh', ['-c', `mkfifo ${shellQuoted(at('pipe'))}`])
  const store = ['--store', 'sqlite:there']
  await knovaryn(['run', 'p.jsonl', ...offline, ...store], { cwd: folder.path })
  // Of seventeen ids two begin with the same digit.
  for (let key = 0; key < 16; key += 1) await knovaryn(['submit', 'p.jsonl', ...offline, ...store, '--key', `k${key}`], { cwd: folder.path })
  jobs = (await knovarynJson<{ items: { jobId: string }[] }>(['job', 'list', ...store], { cwd: folder.path })).items.map(({ jobId }) => jobId)
  cpSync(at('there'), at('newer'), { recursive: true })
  const log = new Driver(join(at('newer'), 'log.db'))
  log.pragma('user_version = 99')
  log.close()
}, 120_000)
afterAll(async () => {
  await killAll()
  await folder.remove()
})

/** Everything that lies in the folder, by content; of a store what it holds, not how SQLite has left its files. */
const lying = (path = folder.path): readonly string[] =>
  readdirSync(path).flatMap((name) => {
    const each = join(path, name)
    if (/^views\.db|^log\.db-(wal|shm)$/.test(name)) return []
    if (lstatSync(each).isDirectory()) return [each, ...lying(each)]
    if (name === 'log.db') return [`${each} ${eventsIn(each)}`]
    return lstatSync(each).isFile() ? [`${each} ${createHash('sha256').update(readFileSync(each)).digest('hex')}`] : [each]
  })

const eventsIn = (path: string): string => {
  const log = new Driver(path, { readonly: true })
  try {
    return JSON.stringify(log.prepare('SELECT count(*), max(id) FROM events').get())
  } finally {
    log.close()
  }
}

type Refusal = { readonly exit?: number; readonly code: string; readonly message: RegExp }

const expectRefused = async (argv: readonly string[], { exit = 2, code, message }: Refusal): Promise<void> => {
  const before = lying()
  const ask = (...more: string[]) => knovaryn([...argv, ...more], { cwd: folder.path })
  const asked = ask()
  // Two readers of a pipe would share what becomes of it.
  if (argv.includes('pipe')) await asked
  const [people, programs] = await Promise.all([asked, ask('--json')])
  expect(people).toMatchObject({ code: exit, stdout: '' })
  expect(people.stderr).toMatch(message)
  expect(people.stderr).toMatch(/^knovaryn: [^\n]{1,400}\n( {2}[^\n]{1,200}\n)*$/)
  expect(programs).toMatchObject({ code: exit, stderr: '' })
  expect(JSON.parse(programs.stdout)).toMatchObject({ error: { code, message: expect.stringMatching(message) } })
  expect(lying()).toEqual(before)
}

const run = (...more: string[]): readonly string[] => ['run', 'p.jsonl', ...offline, ...more]
const priced = (...files: string[]): readonly string[] => [
  ...['run', 'p.jsonl', '--provider', 'offline', '--model', 'm'],
  ...files.flatMap((file) => ['--price-profile', file]),
]
const input = (message: RegExp): Refusal => ({ code: 'invalid_input', message })
const option = (message: RegExp): Refusal => ({ code: 'invalid_option', message })

const cases: readonly (readonly [what: string, argv: readonly string[], refusal: Refusal])[] = [
  ['an unknown option', run('--bugdet-usd', '1'), { code: 'unknown_option', message: /did you mean --budget-usd\?/ }],
  ['an unknown field of a line', ['run', 'unknown.jsonl', ...offline], input(/unknown\.jsonl:1.*"promt": did you mean "prompt"\?/)],
  ['an unknown field of the configuration', run('--config', 'unknown.json'), { code: 'unknown_field', message: /did you mean "budgetUsd"\?/ }],
  ['an unknown job type', run('--type', 'bathc'), input(/no job type "bathc": did you mean "batch"\?/)],
  [
    'a provider that nobody knows',
    ['run', 'p.jsonl', '--provider', 'offlin', '--model', 'm', '--allow-unpriced', 'm'],
    { code: 'unknown_provider', message: /"offlin" is not known here: did you mean "offline"\? Give its address with --base-url/ },
  ],
  [
    'a model without a price',
    ['run', 'p.jsonl', '--provider', 'offline', '--model', 'offline-smal'],
    { code: 'unpriced_model', message: /did you mean "offline-small"\?.*--price-profile.*--allow-unpriced/ },
  ],
  ['a price that is not in force yet', priced('later.json'), { code: 'unpriced_model', message: /no price in force yet: .*2999-01-01/ }],
  ...['-1', 'ten', 'NaN', '1e3', '', '99999999999999999999999'].map(
    (budget) => [`a budget of ${JSON.stringify(budget)}`, run('--budget-usd', budget), option(/--budget-usd must be an amount of US dollars/)] as const,
  ),
  ['a file that is not there', ['run', 'nowhere.jsonl', ...offline], input(/nowhere\.jsonl: there is no such file/)],
  ['a folder', ['run', 'folder.jsonl', ...offline], input(/folder\.jsonl: it is a folder: name the files in it/)],
  ['a link to nothing', ['run', 'dangling', ...offline], input(/dangling: there is no such file/)],
  ['a pipe without a writer', ['run', 'pipe', ...offline], input(/pipe: it is a pipe, and nobody has written to it/)],
  ['a device without an end', ['run', '/dev/zero', ...offline], input(/\/dev\/zero: it is not a file/)],
  ['the memory of a process', ['run', '/proc/self/mem', ...offline], input(/\/proc\/self\/mem: it cannot be read \(EIO\)/)],
  ['a device as a configuration', run('--config', '/dev/zero'), input(/\/dev\/zero: it is not a file/)],
  ['a line that is not JSON', ['run', 'malformed.jsonl', ...offline], input(/malformed\.jsonl:2: not JSON/)],
  ['a binary file under a text name', ['run', 'binary.jsonl', ...offline], input(/binary\.jsonl is not text/)],
  ['a text that is not UTF-8', ['run', 'latin.jsonl', ...offline], input(/latin\.jsonl.*(UTF-8|not text)/)],
  ['a line of 50 MB', ['run', 'long.jsonl', ...offline], input(/long\.jsonl:1: a line of 500000\d\d bytes is over the limit of 4194304/)],
  ['an own __proto__', ['run', 'proto.jsonl', ...offline], input(/proto\.jsonl:1: .*__proto__/)],
  ['an integer beyond 2^53', ['run', 'integer.jsonl', ...offline], input(/integer\.jsonl:1: .*9007199254740993.*as a string/)],
  ['half a surrogate pair', ['run', 'surrogate.jsonl', ...offline], input(/surrogate\.jsonl:1: .*surrogate/)],
  ['a key that stands twice', ['run', 'twice.jsonl', ...offline], input(/twice\.jsonl:1: .*"prompt" stands twice/)],
  ['100 000 arrays in one another', ['run', 'deep.jsonl', ...offline], input(/deep\.jsonl:1: .*nested deeper than/)],
  ['such a configuration', run('--config', 'deep.json'), input(/deep\.json: .*nested deeper than/)],
  ['a configuration with a key twice', run('--config', 'twice.json'), input(/twice\.json: .*"model" stands twice/)],
  ['a binary configuration', run('--config', 'binary.json'), input(/binary\.json: it is not UTF-8 text/)],
  ['overlapping price profiles', priced('one.json', 'other.json'), input(/"one" and "other" both price offline m/)],
  ['prices from no day', priced('day.json'), input(/day\.json: "effectiveFrom" must be a date such as/)],
  ['a list for prices', priced('list.json'), input(/list\.json: must be of type object/)],
  ['half a price profile', priced('half.json'), input(/half\.json: not JSON/)],
  ['a misspelt field of prices', priced('misspelt.json'), input(/misspelt\.json: unknown field "modells": did you mean "models"\?/)],
  ['a file where the store should be', run('--store', 'sqlite:p.jsonl'), input(/p\.jsonl is a file: name a folder/)],
  ['a store inside of a file', run('--store', 'sqlite:p.jsonl/x'), input(/p\.jsonl\/x lies inside of a file/)],
  ['a store of no kind', run('--store', './x'), input(/store "\.\/x" is neither sqlite:DIR nor memory:/)],
  [
    'a store in /proc',
    run('--store', 'sqlite:/proc/knovaryn'),
    { exit: 5, code: 'store_unavailable', message: /\/proc\/knovaryn cannot be used \(ENOENT\): no folder can be made there/ },
  ],
  [
    'a store that is a link to nothing',
    run('--store', 'sqlite:dangling'),
    { exit: 5, code: 'store_unavailable', message: /dangling cannot be used \(EEXIST\): a link to nothing/ },
  ],
  ['a store of a newer version', run('--store', 'sqlite:newer'), input(/newer version of this program \(format 99, known is 1\)/)],
  ['to list the jobs of a newer version', ['job', 'list', '--store', 'sqlite:newer'], input(/newer version of this program/)],
  ['to look where no store is', ['job', 'list', '--store', 'sqlite:nowhere'], { code: 'no_store', message: /there is no store at sqlite:nowhere/ }],
]

describe('the program refuses, and nothing is written', () => {
  test.each(cases)('%s', async (_, argv, refusal) => expectRefused(argv, refusal))

  test.each(cases.filter(([, argv, { code }]) => !/^(--store|pipe)$/m.test(argv.join('\n')) && /input|unpriced/.test(code)))(
    '%s, also where there is a store',
    async (_, argv, refusal) => expectRefused([...argv, '--store', 'sqlite:there'], refusal),
  )

  test('a job that is not there, and names the nearest', async () => {
    const [job = ''] = jobs
    const wrong = job.slice(0, 31) + (job.endsWith('0') ? '1' : '0')
    const message = new RegExp(`there is no job "${wrong}": did you mean ${job}`)
    await expectRefused(['job', 'status', wrong, '--store', 'sqlite:there'], { code: 'job_not_found', message })
  })

  test('a prefix that several jobs have, and names them', async () => {
    const shared = jobs.map((job) => job.slice(0, 1)).find((digit, place, all) => all.indexOf(digit) < place) ?? ''
    const [one, other] = jobs.filter((job) => job.startsWith(shared)).toSorted()
    const message = new RegExp(`"${shared}" could be ${one} or ${other}.*give more of it`)
    await expectRefused(['job', 'cancel', shared, '--store', 'sqlite:there'], { code: 'ambiguous_handle', message })
  })
})

describe.each(mounting)('on %s', () => {
  test('that is read-only, a store is refused with the reason, a new one and one that is there', async () => {
    const disk = await ownFileSystem(8)
    try {
      cpSync(at('there'), join(disk.path, 'there'), { recursive: true })
      await disk.remount('ro')
      for (const name of ['new', 'there']) {
        const store = `sqlite:${join(disk.path, name)}`
        const message = /cannot be used \(EROFS\): make the folder writable \(its file system is read-only\), or name one elsewhere/
        await expectRefused(run('--store', store), { exit: 5, code: 'store_unavailable', message })
      }
      const { code, stdout } = await knovaryn(['doctor', '--store', `sqlite:${join(disk.path, 'there')}`])
      expect(code).toBe(1)
      expect(stdout).toMatch(/^fail +log +.*EROFS.*: nothing can run on this store until it opens$/m)
    } finally {
      await disk.remove()
    }
  })

  test('that is full, a store is refused with the reason', async () => {
    const disk = await ownFileSystem(1)
    try {
      writeFileSync(join(disk.path, 'filler'), Buffer.alloc(1_000_000))
      const store = `sqlite:${join(disk.path, 'store')}`
      const refusal = { exit: 5, code: 'store_unavailable', message: /the disk is full: free some space/ }
      await expectRefused(run('--store', store), refusal)
    } finally {
      await disk.remove()
    }
  })
})
