import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { commands } from '../../server/cli/commands.ts'
import { exitCode } from '../../server/cli/exitCode.ts'
import { globalOptions } from '../../server/cli/options.ts'
import { parseCommandLine } from '../../server/cli/program.ts'

/** What stands in the READMEs is true: commands that exist, numbers that are those of the code. */

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const readme = read('README.md')
const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(read('package.json')))

/** The lines of all `sh` blocks, those that a backslash or a quote goes on in put together. */
const shellLines = [...readme.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) =>
  block.split('\n').filter((line) => line !== ''),
)

describe('the README', () => {
  const called = shellLines.filter((line) => line.startsWith('knovaryn '))

  test('shows the program at work', () => {
    expect(called.length).toBeGreaterThan(3)
    expect(shellLines).toContain('alias knovaryn="node $PWD/dist/server/main.js"')
  })

  test.each(called)('shows a command line that exists: %s', async (line) => {
    const parsed = await parseCommandLine(line.split(' ').slice(1), '0', 80)
    expect(parsed.asks).toBe('command')
  })

  const npmScripts = [...(readme + read('test/README.md')).matchAll(/npm (?:run )?(?!run\b)([a-z][\w:]*)/g)].map(([, name = '']) => name)
  test.each([...new Set(npmScripts)])('names an npm script that exists: %s', (name) => {
    expect(scripts[name], name).toBeDefined()
  })

  test.each([...read('test/README.md').matchAll(/^\| `([\w:]+)` \|/gm)].map(([, name = '']) => name))(
    'of the tests names a script that exists: %s',
    (name) => expect(scripts[name], name).toBeDefined(),
  )

  const known = new Set([...globalOptions, ...commands.flatMap(({ options }) => options)].map(({ name }) => `--${name}`))
  const named = [...new Set(readme.match(/(?<=[` ])--[a-z][a-z-]+/g))].filter((name) => name !== '--help')
  test.each(named)('names an option that exists: %s', (name) => {
    expect([...known]).toContain(name)
  })

  const words = commands.map((command) => command.words.join(' '))
  test.each([...new Set(readme.match(/(?<=`)(job|log|projections) [a-z-]+(?=`)/g))])('names a command that exists: %s', (name) => {
    expect(words).toContain(name)
  })

  test('tells every exit code', () => {
    const [, told = ''] = /Exit codes: (.*?)\.\n/s.exec(readme) ?? []
    const codes = [...told.matchAll(/(?:^|·\s)(\d+)/g)].map(([, code]) => Number(code))
    expect(codes).toEqual([...new Set(Object.values(exitCode))].toSorted((one, other) => one - other))
  })

  test('shows prices that are a price profile', async () => {
    const { PriceProfile } = await import('../../domain/pricing.ts')
    const [, json = ''] = /echo '([^']*)' > prices\.json/.exec(readme) ?? []
    expect(PriceProfile.parse(JSON.parse(json))).toMatchObject({ provider: 'openai' })
  })
})

/** A whole number, or a product of some, as it stands in the code behind this text. */
const numberIn = (path: string, before: string): number => {
  const source = read(path)
  const at = source.indexOf(before)
  expect(at, `${path} has ${before}`).toBeGreaterThan(-1)
  const [literal = ''] = /^[\d_]+(n?)( \* [\d_]+)*/.exec(source.slice(at + before.length)) ?? []
  return literal.split(' * ').reduce((product, factor) => product * Number(factor.replaceAll(/[_n]/g, '')), 1)
}

const kib = 1_024
const mib = kib * kib
const dayMs = 86_400_000

type Place = readonly [path: string, before: string, unit?: number]

/** Each row of the table of limits, and where its numbers stand, each divided by its unit. */
const limits: readonly (readonly [row: string, ...numbers: Place[]])[] = [
  ['cost of a job', ['domain/budget.ts', 'maximumCostUsd: usd(', 1e9]],
  ['calls of a job', ['domain/budget.ts', 'maximumCalls: ']],
  ['examples of a job', ['domain/budget.ts', 'maximumExamples: ']],
  ['output tokens of a call', ['server/jobs/batch/batchRequest.ts', 'maxOutputTokensDefault = ']],
  ['calls of a job at one time', ['server/submit.ts', 'concurrencyDefault = ']],
  ['jobs of a worker at one time', ['server/work.ts', 'slotsDefault = ']],
  ['lease', ['server/work.ts', 'leaseMsDefault = ', 1_000]],
  ['lost leases in a row without progress', ['server/submit.ts', 'maxLostLeasesDefault = ']],
  ['tries of a call, of a job', ['domain/retry.ts', '60_000, attemptsMax: '], ['domain/retry.ts', '60_000, attemptsMax: ']],
  ['wait between tries', ['domain/retry.ts', '= { delayMsMin: ', 1_000], ['domain/retry.ts', 'delayMsMin: 1_000, delayMsMax: ', 1_000]],
  ['waits that a provider asks for, a call; the longest', ['server/worker/sendOnce.ts', 'askedWaitsMax = '], ['domain/retry.ts', 'askedMsMax = ', dayMs]],
  ['wait that gives the job back', ['domain/retry.ts', 'heldWaitMsMax = ', 1_000]],
  ['a single call', ['server/config.ts', 'callTimeoutSeconds: z.number().positive().default(']],
  ['drain after SIGTERM', ['server/work.ts', 'drainMsDefault = ', 1_000]],
  ["tries of a person's command against other writers", ['server/command/handle.ts', 'attemptsMax = ']],
  [
    'tries to tell a command or webhook; wait between them',
    ['server/hooks/hookRetry.ts', 'attemptsMax: '],
    ['server/hooks/hookRetry.ts', 'delayMsMin: ', 1_000],
    ['server/hooks/hookRetry.ts', 'delayMsMax: ', 1_000],
  ],
  ['telling after `run` and `submit --wait`', ['server/hooks/tellNow.ts', 'tellingMsMax = ', 1_000]],
  [
    "a webhook's answer; a command; of either at one time",
    ['adapters/hooks/webhookHook.ts', 'webhookTimeoutMs = ', 1_000],
    ['adapters/hooks/commandHook.ts', 'commandTimeoutMs = ', 1_000],
    ['server/hooks/hookLoop.ts', 'tellingMax = '],
  ],
  ['wait that a webhook asks for, at most', ['adapters/hooks/askedWaitMs.ts', 'askedWaitMsMax = ', dayMs]],
  ['a locked store is waited for', ['adapters/sqlite/patience.ts', 'patienceMs = ', 1_000]],
  ['one append', ['domain/ports/eventStore.ts', 'appendBytesMax = ', mib]],
  ['a value inside an event', ['domain/job/events.ts', 'inlineBytesMax = ', kib]],
  ["a provider's answer", ['adapters/providers/httpProvider.ts', 'answerBytesMax = ', mib]],
  ['a file of prompts; of settings or prices', ['server/cli/readFiles.ts', 'fileBytesMax = ', mib], ['server/cli/jsonFile.ts', 'bytesMax = ', mib]],
  ['a batch line; lines of a batch', ['server/jobs/batch/batchFile.ts', 'lineBytesMax = ', mib], ['server/jobs/batch/readBatch.ts', 'batchLinesMax = ']],
  ["levels of JSON; of a line's metadata", ['domain/strictJson.ts', 'nestingMax = '], ['server/jobs/batch/nesting.ts', 'nestingMax = ']],
  [
    'a document; all of a dataset; how many',
    ['server/jobs/dataset/datasetInput.ts', 'documentBytesMax = ', mib],
    ['server/jobs/dataset/datasetInput.ts', 'documentsBytesMax = ', mib],
    ['server/jobs/dataset/datasetInput.ts', 'documentsMax = '],
  ],
  [
    'reading a document: time; memory',
    ['server/jobs/dataset/documents/parseApart.ts', 'secondsMax: '],
    ['server/jobs/dataset/documents/parseApart.ts', 'memoryMbMax: '],
  ],
  ['tokens of a chunk', ['server/jobs/dataset/datasetParameters.ts', 'chunkTokens: z.int().min(64).max(8_000).default(']],
  ['examples of a dataset without a target: one of each chunk, at most', ['server/jobs/dataset/planExamples.ts', 'untoldTargetMax = ']],
  ['answers that tell what to expect of a model; newest jobs they are from', ['server/estimate/pace.ts', 'callsMin = '], ['server/estimate/pace.ts', 'jobsMax = ']],
  ['workers of a server', ['server/serve.ts', 'workers = ']],
  ['events of a page over HTTP', ['server/localEngine.ts', 'eventsPageDefault = '], ['server/localEngine.ts', 'eventsPageMax = ']],
  ['requests of a token, or of an address that guesses one', ['server/http/httpServer.ts', 'requestsPerMinuteDefault = ']],
  [
    'a request: its body, a file, its headers, its time',
    ['server/http/httpServer.ts', 'bodyBytesMax = ', mib],
    ['server/http/artifactRoutes.ts', 'artifactBytesMax = ', mib],
    ['server/http/httpServer.ts', 'headerBytesMax = ', kib],
    ['server/http/httpServer.ts', 'requestMsMax = ', 1_000],
  ],
  ['files that a server receives at one time', ['server/http/artifactRoutes.ts', 'uploadsBytesMax = ', mib]],
  ['views behind the log before `/readyz` says no', ['server/readiness.ts', 'lagMsMax = ', 1_000]],
  [
    'tries of a request with `--server`; wait between them',
    ['server/client/restClient.ts', 'triesMax = '],
    ['server/client/restClient.ts', 'firstWaitMs = '],
    ['server/client/restClient.ts', 'waitMsMax = ', 1_000],
  ],
  ['jobs of a page of `job list`', ['server/jobPages.ts', 'limitDefault = '], ['server/jobPages.ts', 'limitMax = ']],
]

describe('the limits in the README', () => {
  const [, table = ''] = /\| what \| default \| set by \|\n\|---\|---\|---\|\n(.*?)\n\n/s.exec(readme) ?? []
  const rows = new Map(table.split('\n').map((line) => line.split('|').map((cell) => cell.trim())).map(([, what = '', value = '']) => [what, value]))

  test('are all looked up in the code, but those that are none', () => {
    const unchecked = [...rows.keys()].filter((what) => !limits.some(([row]) => row === what))
    expect(unchecked).toEqual(['input tokens, output tokens, working time of a job'])
    expect(rows.get(unchecked[0] ?? '')).toBe('no cap')
    expect(read('domain/budget.ts')).toMatch(/maximumInputTokens: null,\n\s*maximumOutputTokens: null,\n\s*maximumDurationSeconds: null,/)
  })

  test.each(limits.map(([row, ...numbers]) => ({ row, numbers })))('are those of the code: $row', ({ row, numbers }) => {
    const value = rows.get(row)
    expect(value, row).toBeDefined()
    const told = (value ?? '').replaceAll(/(?<=\d) (?=\d{3})/g, '').match(/\d+/g) ?? []
    const wanted = numbers.map(([path, before, unit = 1]) => numberIn(path, before) / unit)
    expect(told.map(Number)).toEqual(wanted)
  })
})
