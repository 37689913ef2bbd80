import { describe, expect, test } from 'vitest'
import type { LiveFrame, LiveQuery } from '../../server/engine.ts'
import { cliBench, offline, promptLines } from '../support/cliInProcess.ts'

/** Everything up to the first mark that all has been told. */
const untilCaughtUp = async (frames: AsyncIterable<LiveFrame>): Promise<readonly LiveFrame[]> => {
  const told: LiveFrame[] = []
  for await (const frame of frames) {
    told.push(frame)
    if (frame.kind === 'caught_up') break
  }
  return told
}
const eventsOf = (frames: readonly LiveFrame[]) => frames.flatMap((frame) => (frame.kind === 'event' ? [frame.event] : []))

const twoJobs = async () => {
  const cli = await cliBench()
  const jobs: string[] = []
  for (const project of ['red', 'blue']) {
    const prompts = cli.file(`${project}.jsonl`, promptLines(2))
    jobs.push((await cli.json('run', prompts, ...offline, '--project', project)).document.jobId)
  }
  const told = async (query: LiveQuery) => untilCaughtUp(cli.engine.live(query, new AbortController().signal))
  return { cli, jobs, told }
}

describe('events followed live', () => {
  test('are those of the log, from its start', async () => {
    const { cli, jobs, told } = await twoJobs()
    const inLog = []
    for (const job of jobs) inLog.push(...(await cli.engine.events(job, { limit: 1_000 })).items)
    expect(eventsOf(await told({ after: 'start' })).map(({ id }) => id)).toEqual(inLog.map(({ id }) => id))
  })

  test('go on behind any position, without a gap and without a repeat', async () => {
    const { told } = await twoJobs()
    const all = eventsOf(await told({ after: 'start' }))
    for (const [nth, { position }] of all.entries()) {
      expect(eventsOf(await told({ after: position })).map(({ id }) => id)).toEqual(all.slice(nth + 1).map(({ id }) => id))
    }
  })

  test('are of one job, of some projects, of some types', async () => {
    const { jobs, told } = await twoJobs()
    const ofJob = eventsOf(await told({ after: 'start', jobId: jobs[0]!.slice(0, 12) }))
    expect(new Set(ofJob.map(({ jobId }) => jobId))).toEqual(new Set([jobs[0]]))
    const ofProject = eventsOf(await told({ after: 'start', projectIds: ['blue'] }))
    expect(new Set(ofProject.map(({ jobId }) => jobId))).toEqual(new Set([jobs[1]]))
    const ofType = eventsOf(await told({ after: 'start', types: ['JobSucceeded'] }))
    expect(ofType.map(({ jobId, type }) => [jobId, type])).toEqual(jobs.map((job) => [job, 'JobSucceeded']))
  })

  test('say how far they reach, counting what the query hid', async () => {
    const { told } = await twoJobs()
    const { position } = (await told({ after: 'start' })).at(-1)!
    expect(await told({ after: 'start', projectIds: ['green'] })).toEqual([{ kind: 'caught_up', position }])
    expect(await told({})).toEqual([{ kind: 'caught_up', position }])
  })

  test.each(['9'.repeat(16), 'x', '1', '0000000000000001 '])('position %j of no log is refused', async (after) => {
    const { told } = await twoJobs()
    await expect(told({ after })).rejects.toMatchObject({ code: 'foreign_position' })
  })
})

test('a file of one project is unknown in another', async () => {
  const { engine } = await cliBench()
  const { sha256 } = await engine.putFile('red', Buffer.from('content'))
  expect(Buffer.from((await engine.getFile('red', sha256))!).toString()).toBe('content')
  expect(await engine.getFile('blue', sha256)).toBeNull()
})
