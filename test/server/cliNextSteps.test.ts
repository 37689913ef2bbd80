import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { calledAs } from '../../server/cli/calledAs.ts'
import { shellQuoted } from '../../server/cli/shellQuoted.ts'
import { cliBench, offline, promptLines } from '../support/cliInProcess.ts'

test('the next steps name the places that were named on the command line, and a shell reads them back', async () => {
  const bench = await cliBench()
  const config = bench.file("it's mine.json", '{}')
  const places = ['--config', config, '--store', 'memory:', '--data', 'a b']
  const { stdout } = await bench.run('submit', bench.file('p.jsonl', promptLines(1)), ...offline, ...places)
  const steps = stdout.split('\n').filter((line) => line.startsWith('  knovaryn '))
  expect(steps).toEqual([expect.stringMatching(/^ {2}knovaryn worker --once /), expect.stringMatching(/^ {2}knovaryn job watch /)])
  for (const step of steps) {
    const words = execFileSync('sh', ['-c', `printf '%s\\n' ${step}`], { encoding: 'utf8' }).split('\n')
    expect(words).toContain(config)
    expect(words.slice(words.indexOf('--store'), words.indexOf('--store') + 4)).toEqual(['--store', 'memory:', '--data', 'a b'])
  }
})

test('without places on the command line a next step names none', async () => {
  const bench = await cliBench()
  const { stdout } = await bench.run('run', bench.file('p.jsonl', promptLines(1)), ...offline)
  expect(stdout).toMatch(/^ {2}knovaryn job ledger [0-9a-f]{12}$/m)
})

test.each(['plain', 'sqlite:./.knovaryn', 'two words', "it's", '$HOME', 'a\nb', '`x`', '"', '', '~', 'a=b,c', '-'])(
  'a shell reads %j back as it was',
  (text) => {
    expect(execFileSync('sh', ['-c', `printf %s ${shellQuoted(text)}`], { encoding: 'utf8' })).toBe(text)
  },
)

test.each([
  ['/usr/local/bin/knovaryn', 'knovaryn'],
  ['/somewhere/node_modules/.bin/knovaryn', 'npx knovaryn'],
  [`${process.cwd()}/dist/server/main.js`, 'node dist/server/main.js'],
  ['/else where/dist/server/main.js', "node '/else where/dist/server/main.js'"],
])('called by %s, the program names itself %s', (path, words) => {
  expect(calledAs(path)).toBe(words)
})

test('doctor knows the variable of the demo’s folder', async () => {
  const bench = await cliBench({ env: { KNOVARYN_DEMO_DIR: '/somewhere', KNOVARYN_DEMO_DIRR: 'x' } })
  const { document } = await bench.json('doctor')
  expect(document.items.filter((item) => item['check'] === 'variables')).toEqual([
    { check: 'variables', verdict: 'warn', message: 'KNOVARYN_DEMO_DIRR has no effect', advice: 'did you mean KNOVARYN_DEMO_DIR?' },
  ])
})

test('doctor does not warn of a provider that nobody has set up', async () => {
  const bench = await cliBench()
  const { stdout } = await bench.run('doctor')
  expect(stdout).toMatch(/^ok +provider openai +not set up: it needs a key in OPENAI_API_KEY$/m)
  expect(stdout).toMatch(/^ok +provider anthropic +not set up: it needs a key in ANTHROPIC_API_KEY$/m)
  const config = bench.file('k.json', JSON.stringify({ providers: { mine: { baseUrl: 'http://127.0.0.1:9/v1', apiKeyEnv: 'MY_KEY' } } }))
  expect((await bench.run('doctor', '--config', config)).stdout).toMatch(/^warn +provider mine +no key in MY_KEY, at http:\/\/127\.0\.0\.1:9\/v1: set MY_KEY/m)
})
