import { type Check, type Checked, ok, warn } from './check.ts'

/** Jobs looked at: enough to find what a newer program has written, and quick on any log. */
const jobsMax = 5_000

/** Whether the newest jobs hold events that this program cannot read. */
export const checkJobs: Check = async (_call, workplace) => {
  if (workplace === null) return []
  const { engine } = workplace
  const unread: Checked[] = []
  let looked = 0
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<typeof engine.list>> = await engine.list({ limit: 500, ...(cursor === null ? {} : { cursor }) })
    for (const { jobId, unknownEvents } of page.items) {
      if (unknownEvents === 0) continue
      unread.push(
        warn('events', `job ${jobId} has ${unknownEvents} events of a newer program`, 'update knovaryn to work on it'),
      )
    }
    looked += page.items.length
    cursor = page.nextCursor
  } while (cursor !== null && looked < jobsMax)
  return unread.length > 0 ? unread : [ok('events', readable(looked))]
}

const readable = (jobs: number): string =>
  jobs === 0 ? 'none yet' : `those of ${jobs === 1 ? 'the one job' : `the newest ${jobs} jobs`} can be read`
