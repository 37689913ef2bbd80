import { describe, expect, test } from 'vitest'
import { jobsAnsweredBy, sumThroughput, throughput } from '../../projections/throughput.ts'
import { event, projectId } from '../support/controls.ts'
import { jobIdOf, listed, logged, projected } from './loggedJob.ts'
import { diceOf, randomLog } from './randomLog.ts'

const working = [event.JobSubmitted(), event.JobLeased(), event.JobStarted()]
const small = jobsAnsweredBy('offline', 'small')
const linesAfter = (...given: Parameters<typeof logged>[0]) =>
  projected(throughput, logged([...working, ...given])).get(jobIdOf(1))?.lines

describe('the throughput of a job', () => {
  test('sums up its answers by model', () => {
    const usage = { inputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 30 }
    const lines = linesAfter(
      event.ProviderCallReserved(),
      event.ProviderCallReserved({ call: 2, callKey: 'key-2', model: 'large' }),
      event.ProviderCallReserved({ call: 3, callKey: 'key-3' }),
      event.ProviderCallSettled({ usage, durationMs: 100 }),
      event.ProviderCallSettled({ call: 2, usage, durationMs: 5_000 }),
      event.ProviderCallSettled({ call: 3, usage: { ...usage, outputTokens: 12 }, durationMs: 50 }),
    )
    expect(lines).toEqual([
      { provider: 'offline', model: 'small', calls: 2, outputTokens: 42, durationMs: 150 },
      { provider: 'offline', model: 'large', calls: 1, outputTokens: 30, durationMs: 5_000 },
    ])
  })

  test.each([
    ['that failed', [event.ProviderCallFailed({ billed: 'no' })]],
    ['whose worker was lost', [event.LeaseExpired(), event.ProviderCallOrphaned()]],
    ['charged at its worst', [event.ProviderCallSettled({ usage: null, usageInvalid: true })]],
    ['answered long after', [event.ProviderCallFailed({ billed: 'unknown' }), event.ProviderCallSettled({ late: true })]],
  ])('has no document for a call %s', (_, events) => {
    expect(projected(throughput, logged([...working, event.ProviderCallReserved(), ...events])).size).toBe(0)
  })

  test('counts a call that was sent again under its key once', () => {
    const lines = linesAfter(
      event.ProviderCallReserved(),
      event.ProviderCallFailed({ billed: 'unknown' }),
      event.ProviderCallReserved({ call: 2, takesOver: 1 }),
      event.ProviderCallSettled({ call: 2 }),
    )
    expect(lines).toMatchObject([{ calls: 1 }])
  })

  test.each([101, 102, 103])('remembers no call but those that are open, however long the job (seed %i)', (seed) => {
    const events = randomLog(diceOf(seed), { jobs: 3, steps: 800 })
    const views = projected(throughput, events.map((each) => each.event))
    const answers = events.filter(
      ({ event: { type, data } }) => type === 'ProviderCallSettled' && data.usage !== null && data.late !== true,
    )
    expect([...views.values()].flatMap(({ lines }) => lines).reduce((sum, { calls }) => sum + calls, 0)).toBe(answers.length)
    expect(answers.length).toBeGreaterThan(0)
    const jobs = new Map(events.map(({ job }) => [job.jobId, job]))
    for (const job of jobs.values()) expect(Object.keys(views.get(job.jobId)?.open ?? {})).toEqual(Object.keys(job.open))
  })
})

describe('the jobs that a model has answered', () => {
  const answered = (job: number, from: number, model = 'small') =>
    logged([...working, event.ProviderCallReserved({ model }), event.ProviderCallSettled()], { job, from })

  test('are listed newest first, and those of other models not at all', () => {
    const log = [...answered(1, 1), ...answered(2, 11), ...answered(3, 21, 'large')]
    expect(listed(throughput, log, small).map(({ jobId }) => jobId)).toEqual([jobIdOf(2), jobIdOf(1)])
  })

  test('are listed by project too', () => {
    const ofProject = (owner: string) => listed(throughput, answered(1, 1), jobsAnsweredBy('offline', 'small', owner))
    expect(ofProject(projectId).map(({ jobId }) => jobId)).toEqual([jobIdOf(1)])
    expect(ofProject('another')).toEqual([])
  })

  test('are summed up by model', () => {
    const jobs = listed(throughput, [...answered(1, 1), ...answered(2, 11)], small)
    expect(sumThroughput(jobs, 'offline', 'small')).toMatchObject({ calls: 2 })
    expect(sumThroughput(jobs, 'offline', 'large')).toEqual({ calls: 0, outputTokens: 0, durationMs: 0 })
  })
})
