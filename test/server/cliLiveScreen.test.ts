import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { jobDocument, type JobDocument } from '../../domain/job/document.ts'
import type { JobEvent } from '../../domain/job/events.ts'
import type { Job } from '../../domain/job/job.ts'
import { caughtUp } from '../../server/cli/live/caughtUp.ts'
import { liveJob } from '../../server/cli/live/liveJob.ts'
import { viewOf } from '../../server/cli/live/liveView.ts'
import { screen } from '../../server/cli/live/screen.ts'
import { painter } from '../../server/cli/paint.ts'
import type { TextOut } from '../../server/cli/shell.ts'
import type { Engine } from '../../server/engine.ts'
import { cliBench, offline, promptLines } from '../support/cliInProcess.ts'
import { event, type GivenEvent } from '../support/controls.ts'
import { follow, historyOf } from '../support/histories.ts'
import { type Terminal, terminal } from '../support/terminal.ts'

const bench = (columns = 40, rows = 10): Terminal & { readonly out: TextOut & { columns: number; rows: number }; readonly written: string[] } => {
  const shown = terminal(rows)
  const written: string[] = []
  const write = async (text: string): Promise<boolean> => {
    written.push(text)
    shown.take(text)
    return true
  }
  return { ...shown, written, out: { isTerminal: true, columns, rows, write } }
}

describe('the screen', () => {
  test('draws in place, and clears what a shorter block leaves', async () => {
    const { out, lines } = bench()
    const drawn = screen(out)
    await out.write('before\n')
    await drawn.draw(['one', 'two is longer', 'three'])
    await drawn.draw(['one', 'two'])
    expect(lines()).toEqual(['before', 'one', 'two'])
  })

  test('puts what is written above the block, whole', async () => {
    const { out, lines } = bench()
    const drawn = screen(out)
    await drawn.draw(['one', 'two'])
    await drawn.write('\nwarn: first\n')
    await drawn.write('second')
    expect(lines()).toEqual(['warn: first', 'second', 'one', 'two'])
  })

  test('leaves the block standing, and writes below it from then on', async () => {
    const { out, lines } = bench()
    const drawn = screen(out)
    await drawn.draw(['one'])
    drawn.leave()
    await drawn.write('after\n')
    await drawn.draw(['two'])
    expect(lines()).toEqual(['one', 'after', 'two'])
  })

  test('writes nothing when nothing has changed but the clock', async () => {
    const { out, written } = bench()
    const drawn = screen(out)
    await drawn.draw(['one'])
    await drawn.draw(['one'])
    expect(written).toHaveLength(1)
  })

  test('finds the begin of a block whose lines a narrower terminal has broken', async () => {
    const { out, written } = bench(40)
    const drawn = screen(out)
    await drawn.draw(['x'.repeat(39), '\u001b[1mshort\u001b[0m'])
    out.columns = 20
    await drawn.draw(['x'.repeat(19)])
    expect(written[1]).toContain('\u001b[3A')
  })

  test('leaves the cursor shown and lines wrapping after each write: no end of the process can find it otherwise', async () => {
    const { out, written } = bench()
    const drawn = screen(out)
    await drawn.draw(['one'])
    await drawn.write('text')
    await drawn.draw(['two'])
    expect(written).toHaveLength(3)
    for (const text of written) expect(text).toMatch(/^\u001b\[\?25l\u001b\[\?7l[^]*\u001b\[\?7h\u001b\[\?25h$/)
  })
})

test.each([
  [true, {}, '\u001b[31mtext\u001b[0m'],
  [true, { NO_COLOR: '1' }, 'text'],
  [true, { NO_COLOR: '' }, '\u001b[31mtext\u001b[0m'],
  [false, {}, 'text'],
])('text on a terminal (%s) with %j is painted as %j', (isTerminal, env, painted) => {
  expect(painter({ ...bench().out, isTerminal }, env)('text', 'red')).toBe(painted)
})

/** An engine that answers with these events, and counts how often each was read. */
const logged = (
  events: readonly GivenEvent[],
): { engine: Pick<Engine, 'events'>; job(length: number): JobDocument; reads: Map<number, number> } => {
  const history = historyOf(events) as readonly JobEvent[]
  const whole = jobDocument(follow(null, history) as Job)
  const reads = new Map<number, number>()
  return {
    reads,
    job: (length) => ({ ...whole, revision: length - 1 }),
    engine: {
      events: async (_, { afterRevision = -1, limit = 100 } = {}) => {
        const items = history.slice(afterRevision + 1, afterRevision + 1 + limit)
        for (const { revision } of items) reads.set(revision, (reads.get(revision) ?? 0) + 1)
        return { items, nextCursor: null }
      },
    },
  }
}
const begun = [event.JobSubmitted(), event.JobLeased(), event.JobStarted(), event.StageCompleted({ durationMs: 1_400 })]
const noted = (count: number): readonly GivenEvent[] =>
  Array.from({ length: count }, (_, index) => event.JobLogged({ message: `line ${index}` }))

describe('events of a watched job', () => {
  test('are each read once, however often it is looked at', async () => {
    const { engine, job, reads } = logged([...begun, ...noted(600)])
    let view = await caughtUp(engine, viewOf(job(5)), 0)
    view = await caughtUp(engine, view, 0)
    view = await caughtUp(engine, { ...view, job: job(604) }, 0)
    expect([...reads.values()].every((times) => times === 1)).toBe(true)
    expect(view.revision).toBe(603)
    expect(view.notes.at(-1)?.text).toBe('line 599')
  })

  test('of a long history are read only at its begin and its end', async () => {
    const { engine, job, reads } = logged([...begun, ...noted(2_000)])
    const view = await caughtUp(engine, viewOf(job(2_004)), 0)
    expect(reads.size).toBe(400)
    expect(view.stageMs.get('intake')).toBe(1_400)
    expect(view.notes).toHaveLength(20)
    expect(view.notes.at(-1)?.text).toBe('line 1999')
  })
})

describe('a job that is drawn', () => {
  beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) }))
  afterEach(() => void vi.useRealTimers())

  test('is drawn ten times a second at most, and in the end with its last state', async () => {
    const { engine, job } = logged([...begun, ...noted(500)])
    const { out, written, lines } = bench(60, 16)
    const shown = liveJob(engine, screen(out), (text) => text)
    for (let ms = 0; ms < 500; ms += 1) {
      shown.show(job(5 + ms))
      await vi.advanceTimersByTimeAsync(2)
    }
    expect(written.length).toBeGreaterThan(5)
    expect(written.length).toBeLessThanOrEqual(10)
    shown.show(job(504))
    await shown.end()
    expect(lines().slice(-2)).toEqual(['  00:08:23Z  line 499', ''])
  })

  test('is drawn also while its events cannot be had', async () => {
    const { job } = logged(begun)
    const { out, lines } = bench(60, 16)
    const shown = liveJob({ events: () => Promise.reject(new Error('the store is away')) }, screen(out), (text) => text)
    shown.show(job(4))
    await vi.advanceTimersByTimeAsync(200)
    expect(lines().join('\n')).toContain('0123456789ab · running')
    await shown.end()
  })

  test('is drawn again for another size of the terminal, without a change of the job', async () => {
    const { engine, job } = logged(begun)
    const { out, lines } = bench(60, 16)
    const shown = liveJob(engine, screen(out), (text) => text)
    shown.show(job(4))
    await vi.advanceTimersByTimeAsync(200)
    out.rows = 5
    await vi.advanceTimersByTimeAsync(200)
    expect(lines().at(-1)).toContain('    worker')
    expect(lines()).toHaveLength(4)
    await shown.end()
  })
})

test('on a terminal run and watch draw the job and leave its stages above the summary', async () => {
  const { run, file, engine } = await cliBench({ terminal: true, latencyMs: 20, env: { NO_COLOR: '1' } })
  const ran = await run('run', file('p.jsonl', promptLines(40)), ...offline)
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Job [0-9a-f]{32} · default\/batch · succeeded\n/) })
  const shown = terminal(24)
  shown.take(ran.stderr)
  expect(shown.lines().slice(-5)).toEqual([
    '',
    expect.stringMatching(/^ {2}✓ intake {4}\S+ m?s$/),
    expect.stringMatching(/^ {2}✓ generate {2}\S+ m?s$/),
    expect.stringMatching(/^ {2}✓ export {4}\S+ m?s$/),
    '',
  ])
  const [job] = (await engine.list({})).items
  const watched = await run('job', 'watch', job?.jobId ?? '')
  expect(watched.stderr).toContain('✓ generate')
  expect(watched.stdout).toContain('succeeded')
})

test('a job that is watched for a program, or away from a terminal, is not drawn', async () => {
  const { run, file, engine } = await cliBench()
  await run('run', file('p.jsonl', promptLines(2)), ...offline)
  const [job] = (await engine.list({})).items
  expect(await run('job', 'watch', job?.jobId ?? '')).toMatchObject({
    stdout: expect.stringMatching(/^succeeded · [^\n]*\nJob /),
    stderr: '',
  })
})
