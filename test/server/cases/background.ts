import { afterEach } from 'vitest'
import type { JobDocument } from '../../../domain/job/document.ts'
import type { WorkOptions } from '../../../server/workOptions.ts'
import { temporaryFolder } from '../../contract/temporaryFolder.ts'
import type { Script } from '../../support/scriptedProvider/script.ts'
import { startScriptedProvider } from '../../support/scriptedProvider/startScriptedProvider.ts'
import { until } from '../../support/until.ts'
import { type OpenPlace, workplaceOn } from '../../support/workplaceOn.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

/** A provider and a store for one test, with workers of this process in the background. */
export const inBackground = async (script: Script, store: 'memory' | 'sqlite' = 'memory') => {
  const provider = await startScriptedProvider(script)
  const folder = await temporaryFolder()
  cleanups.push(provider.close, folder.remove)
  const place = store === 'memory' ? 'memory:' : `sqlite:${folder.path}/store`

  const open = async (options: Parameters<typeof workplaceOn>[1] = {}): Promise<OpenPlace> => {
    const opened = await workplaceOn(place, options)
    cleanups.push(opened.close)
    return opened
  }
  /** Works until the test has ended, or until what it answers is called. */
  const work = (at: OpenPlace, options: WorkOptions = {}): (() => Promise<void>) => {
    const stop = new AbortController()
    const worked = at.work({ drainMs: 2_000, ...options }, stop.signal)
    const end = async (): Promise<void> => {
      stop.abort()
      await worked
    }
    cleanups.push(end)
    return end
  }
  return { provider, open, work }
}

export const inState = (
  { engine }: Pick<OpenPlace, 'engine'>,
  jobId: string,
  ...states: readonly JobDocument['state'][]
): Promise<JobDocument> =>
  until(`job ${jobId} to be ${states.join(' or ')}`, async () => {
    const job = await engine.status(jobId)
    return states.includes(job.state) && job
  })

export const eventTypes = async ({ engine }: Pick<OpenPlace, 'engine'>, jobId: string): Promise<readonly string[]> =>
  (await engine.events(jobId, { limit: 1_000 })).items.map((event) => event.type)

/** What must hold behind every case: the audit passes, and every view equals a fresh fold. */
export const soundFindings = async ({ engine }: Pick<OpenPlace, 'engine'>): Promise<readonly unknown[]> => [
  ...(await engine.verifyLog()).findings,
  ...(await engine.verifyProjections([])).filter((view) => !view.equal),
]
