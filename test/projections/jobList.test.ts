import { describe, expect, test } from 'vitest'
import { jobDocument } from '../../domain/job/document.ts'
import type { Job } from '../../domain/job/job.ts'
import { jobList, ListedJob } from '../../projections/jobList.ts'
import { jobListOf } from '../../projections/jobLists.ts'
import { event } from '../support/controls.ts'
import { jobIdOf, listed, logged, newer, projected } from './loggedJob.ts'
import { diceOf, randomLog } from './randomLog.ts'

/** What the folded job says about the fields of a list. */
const seen = (job: Job) => {
  const document = jobDocument(job)
  const { budget } = document
  return {
    ...Object.fromEntries(Object.entries(document).filter(([name]) => name in ListedJob.shape)),
    maximumCostUsd: budget.maximumCostUsd,
    spentCostUsd: budget.spentCostUsd,
    heldCostUsd: budget.heldCostUsd,
    reservedCostUsd: budget.reservedCostUsd,
    callsMade: budget.callsMade,
    pauseReason: job.pauseReason,
  }
}

const seeds = Array.from({ length: 10 }, (_, index) => index + 1)

describe('a listed job', () => {
  test.each(seeds)('equals the folded job after every event of a random history (seed %i)', (seed) => {
    const views = new Map<string, ListedJob>()
    for (const { event: happened, job } of randomLog(diceOf(seed), { jobs: 4, steps: 800 })) {
      const before = views.get(job.jobId) ?? null
      const frozen = JSON.stringify(before)
      const view = jobList.project(before, happened)
      expect(JSON.stringify(before), 'the document before').toBe(frozen)
      if (view === null) throw new Error('a listed job never goes')
      const { position: _position, unknownEvents, fold: _fold, ...fields } = view
      expect(fields, `${happened.type} at ${happened.position}`).toEqual(seen(job))
      expect(unknownEvents).toBe(0)
      expect(ListedJob.parse(view)).toEqual(view)
      views.set(job.jobId, view)
    }
  })

  test('the random histories go through every state and every kind of event about money', () => {
    const log = seeds.flatMap((seed) => randomLog(diceOf(seed), { jobs: 4, steps: 800 }))
    const states = new Set(log.map(({ job }) => job.state))
    const types = new Set(log.map(({ event: happened }) => happened.type))
    expect(states.size).toBe(10)
    expect(types.size).toBeGreaterThanOrEqual(29)
    expect(log.some(({ event: each }) => each.type === 'ProviderCallReserved' && each.data.takesOver !== undefined)).toBe(true)
    expect(log.some(({ event: each }) => each.type === 'ProviderCallSettled' && each.data.late)).toBe(true)
    expect(log.some(({ event: each }) => each.type === 'ProviderCallSettled' && each.data.overrun)).toBe(true)
  })

  test('counts events that this program does not know', () => {
    expect([...projected(jobList, logged([event.JobSubmitted(), newer, newer])).values()]).toMatchObject([
      { state: 'queued', unknownEvents: 2, revision: 2 },
    ])
  })
})

describe('a list of jobs', () => {
  const events = [1, 2, 3, 4].flatMap((job) =>
    logged(
      [
        event.JobSubmitted({
          projectId: job > 2 ? 'a' : 'b',
          type: job % 2 === 0 ? 'batch' : 'dataset',
          labels: { team: job === 1 ? 'red|blue' : 'red', n: String(job) },
        }),
        ...(job === 3 ? [event.JobLeased()] : []),
      ],
      { job, from: job * 10 },
    ),
  )
  const jobs = (filter: Parameters<typeof jobListOf>[0]) => {
    const { term, passes } = jobListOf(filter)
    return listed(jobList, events, term).filter(passes).map((job) => job.jobId)
  }

  test.each<[string, Parameters<typeof jobListOf>[0], number[]]>([
    ['everything, newest first', {}, [4, 3, 2, 1]],
    ['a project', { projectId: 'a' }, [4, 3]],
    ['a state', { state: 'queued' }, [4, 2, 1]],
    ['a type', { type: 'batch' }, [4, 2]],
    ['a project and a state', { projectId: 'a', state: 'leased' }, [3]],
    ['a project and a type', { projectId: 'b', type: 'dataset' }, [1]],
    ['a state and a type', { state: 'queued', type: 'dataset' }, [1]],
    ['a project, a state and a type', { projectId: 'a', state: 'queued', type: 'batch' }, [4]],
    ['a label', { labels: { team: 'red' } }, [4, 3, 2]],
    ['a label with a character that terms are joined by', { labels: { team: 'red|blue' } }, [1]],
    ['a label of a project', { projectId: 'b', labels: { team: 'red' } }, [2]],
    ['two labels', { labels: { team: 'red', n: '3' } }, [3]],
    ['a label and a state', { state: 'queued', labels: { team: 'red' } }, [4, 2]],
    ['a label that every object has', { labels: { constructor: 'x' } }, []],
    ['nothing', { projectId: 'a|state:queued' }, []],
  ])('can be narrowed to %s', (_, filter, expected) => {
    expect(jobs(filter)).toEqual(expected.map(jobIdOf))
  })

  test('of one project holds no job of another whose name contains it', () => {
    const odd = logged([event.JobSubmitted({ projectId: 'a|state:queued' })])
    expect(listed(jobList, odd, jobListOf({ projectId: 'a', state: 'queued' }).term)).toEqual([])
    expect(listed(jobList, odd, jobListOf({ projectId: 'a|state:queued' }).term)).toHaveLength(1)
  })
})
