import { expect, test } from 'vitest'
import { textTable } from '../../server/cli/textTable.ts'
import { cliBench, offline, promptLines } from '../support/cliInProcess.ts'

const columns = [
  { heading: 'JOB', text: () => 'aaaa' },
  { heading: 'TYPE', spare: 2, text: () => 'batch' },
  { heading: 'HELD', text: () => '' },
  { heading: 'CALLS', spare: 1, text: () => '12' },
]

test.each([
  [Infinity, 'JOB   TYPE   HELD  CALLS\naaaa  batch        12\n'],
  [24, 'JOB   TYPE   HELD  CALLS\naaaa  batch        12\n'],
  [23, 'JOB   TYPE   CALLS\naaaa  batch  12\n'],
  [17, 'JOB   TYPE\naaaa  batch\n'],
  [10, 'JOB\naaaa\n'],
  [1, 'JOB\naaaa\n'],
])('a table for %d columns leaves out what is empty, then what can be spared', (width, table) => {
  expect(textTable(columns, [0], width)).toBe(table)
})

test('on a terminal of 80 columns nothing of a job runs over the line', async () => {
  const bench = await cliBench({ terminal: true })
  await bench.run('submit', bench.file('q.jsonl', promptLines(3)), ...offline, '--priority', '1')
  await bench.run('run', bench.file('o.jsonl', promptLines(2)), ...offline)
  const [done, queued] = (await bench.engine.list({})).items.map(({ jobId }) => jobId)
  const job = queued ?? ''
  const commands = [
    ['run', bench.file('p.jsonl', promptLines(12)), ...offline],
    ['estimate', bench.file('e.jsonl', promptLines(12_000)), ...offline, '--max-total-output-tokens', '10000000'],
    ['job', 'list'],
    ['job', 'status', job],
    ['job', 'events', done ?? ''],
    ['job', 'ledger', done ?? ''],
    ['job', 'audit', done ?? ''],
    ['job', 'cancel', job],
    ['projections', 'list'],
    ['projections', 'verify'],
    ['log', 'verify'],
    ['doctor'],
    ['--help'],
    ['job', '--help'],
    ['run', '--help'],
  ]
  for (const command of commands) {
    const { stdout } = await bench.run(...command)
    // What an event tells may take more than its line: the workers' names alone do.
    const lines = stdout.split('\n').filter((line) => !/Job(Submitted|Leased)/.test(line))
    const wide = lines.filter((line) => line.replace(/\u001b\[\d*m/g, '').length > 80)
    expect(wide, command.join(' ')).toEqual([])
  }
})

test('events on a terminal stand under their day, elsewhere each has its instant', async () => {
  const lines = async (terminal: boolean): Promise<readonly string[]> => {
    const bench = await cliBench({ terminal })
    await bench.run('submit', bench.file('p.jsonl', promptLines(1)), ...offline)
    const job = (await bench.engine.list({})).items[0]?.jobId ?? ''
    return (await bench.run('job', 'events', job)).stdout.split('\n')
  }
  expect(await lines(true)).toEqual([
    expect.stringMatching(/^\d{4}-\d\d-\d\d \(UTC\)$/),
    expect.stringMatching(/^ {5}0 {2}\d\d:\d\d:\d\d\.\d{3} {2}JobSubmitted /),
    '',
  ])
  expect((await lines(false))[0]).toMatch(/^ {5}0 {2}\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z {2}JobSubmitted /)
})
