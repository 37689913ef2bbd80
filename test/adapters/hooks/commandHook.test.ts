import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { commandHook, commandTimeoutMs } from '../../../adapters/hooks/commandHook.ts'
import { outputUnitsMax } from '../../../adapters/hooks/lastOf.ts'
import { manualClock } from '../../support/manualClock.ts'
import { until } from '../../support/until.ts'
import { ending, never } from './endings.ts'

const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'knovaryn-hook-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const hookOf = (command: string, over: Partial<Parameters<typeof commandHook>[0]> = {}) =>
  commandHook({ command, env: { PATH: process.env['PATH'] }, clock: manualClock(), ...over })

const textIn = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8') || null
  } catch {
    return null
  }
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    // A killed process whose parent has not heard of it yet is still in the table.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

test('a command gets the job document on its standard input, and what it is about in its environment', async () => {
  const at = folder()
  const told = ending()
  const command = `cat > ${at}/job.json; printf '%s %s %s' "$KNOVARYN_JOB_ID" "$KNOVARYN_JOB_STATE" "$KNOVARYN_EVENT_ID"`
  const answer = await hookOf(command).tell(told, never)
  expect(answer).toEqual({ taken: true, said: `${told.job.jobId} paused ${told.eventId}`, askedMs: null })
  expect(JSON.parse(readFileSync(`${at}/job.json`, 'utf8'))).toEqual(told.job)
})

test('a command sees no variable but those it was given, and those about the job', async () => {
  const { said } = await hookOf('env -u PWD -u SHLVL -u _', { env: { PATH: process.env['PATH'], GREETING: 'hello' } }).tell(ending(), never)
  const names = said.match(/\b[A-Z_]+(?==)/g)
  expect(names?.toSorted()).toEqual(['GREETING', 'KNOVARYN_EVENT_ID', 'KNOVARYN_JOB_ID', 'KNOVARYN_JOB_STATE', 'PATH'])
})

test.each([
  ['exit 3', 'exit code 3'],
  ['echo out; echo why >&2; exit 1', 'exit code 1: out why'],
  ['no-such-program-anywhere', 'exit code 127: '],
  ['kill -TERM $$', 'ended by SIGTERM'],
])('it is not taken where the command is: %s', async (command, said) => {
  const answer = await hookOf(command).tell(ending(), never)
  expect(answer).toMatchObject({ taken: false, askedMs: null })
  expect(answer.said).toContain(said)
})

test('a command that reads nothing of a document larger than a pipe has taken it all the same', async () => {
  const told = ending()
  const labels = { long: 'x'.repeat(1_000_000) }
  expect(await hookOf('exit 0').tell({ ...told, job: { ...told.job, labels } }, never)).toMatchObject({ taken: true })
})

test('of much output the end is kept, on one line and without what a terminal would obey', async () => {
  const { said } = await hookOf(`yes 'line \u001b[31m' | head -c 500000; echo; echo the end`).tell(ending(), never)
  expect(said.length).toBeLessThanOrEqual(outputUnitsMax + 1)
  expect(said).toMatch(/^….* the end$/)
  expect(said).not.toMatch(/[\u0000-\u001f]/)
})

test('a command that is still running after a minute is killed with all that it has started', async () => {
  const at = folder()
  const clock = manualClock()
  const answer = hookOf(`sleep 600 & echo $! > ${at}/child; echo $$ > ${at}/shell; wait`, { clock }).tell(ending(), never)
  const pids = await Promise.all(['child', 'shell'].map((name) => until(name, () => textIn(join(at, name)))))
  await clock.advance(commandTimeoutMs)
  expect(await answer).toMatchObject({ taken: false, said: 'still running after 60 s: killed' })
  await until('both to be gone', () => pids.every((pid) => !isAlive(Number(pid))))
  expect(clock.sleepers()).toBe(0)
})

test('a command that is cut short is killed at once', async () => {
  const at = folder()
  const cut = new AbortController()
  const answer = hookOf(`echo $$ > ${at}/shell; sleep 600`).tell(ending(), cut.signal)
  const pid = Number(await until('the shell', () => textIn(join(at, 'shell'))))
  cut.abort()
  expect(await answer).toMatchObject({ taken: false, said: 'it was cut short' })
  await until('it to be gone', () => !isAlive(pid))
  expect(await hookOf('exit 0').tell(ending(), cut.signal)).toMatchObject({ taken: false, said: 'it was cut short' })
})

test('a command that was done before what it left behind was killed has taken it', async () => {
  const at = folder()
  const clock = manualClock()
  const answer = hookOf(`sleep 600 & echo $! > ${at}/child; echo $$ > ${at}/shell; exit 0`, { clock }).tell(ending(), never)
  const [child = '', shell = ''] = await Promise.all(['child', 'shell'].map((name) => until(name, () => textIn(join(at, name)))))
  // It leaves the table of processes when this one hears how it ended.
  await until('the end of the shell to be heard', () => textIn(`/proc/${Number(shell)}/status`) === null)
  await clock.advance(commandTimeoutMs)
  expect(await answer).toMatchObject({ taken: true })
  await until('the child to be gone', () => !isAlive(Number(child)))
})

test('what a command has left to itself, with its output elsewhere, is not waited for', async () => {
  const at = folder()
  const answer = await hookOf(`sleep 600 > /dev/null 2>&1 < /dev/null & echo $! > ${at}/child`).tell(ending(), never)
  const child = Number(textIn(join(at, 'child')))
  expect(answer).toMatchObject({ taken: true })
  expect(isAlive(child)).toBe(true)
  process.kill(child, 'SIGKILL')
})
