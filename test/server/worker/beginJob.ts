import { sha256 } from '../../../adapters/system/sha256.ts'
import { JobId } from '../../../domain/ids.ts'
import { handle } from '../../../server/command/handle.ts'
import type { JobDefinition } from '../../../server/defineJob.ts'
import type { Submission } from '../../../server/engine.ts'
import type { WorkOptions } from '../../../server/workOptions.ts'
import { heldProvider, heldWorld } from '../../support/heldPlace.ts'

/** A submitted job, and one worker that has had half a second to claim it. Time stands until a test moves it. */
export const beginJob = async (
  definition: JobDefinition,
  given: {
    readonly submission?: Partial<Submission>
    readonly provider?: Parameters<typeof heldProvider>[0]
    readonly place?: Parameters<ReturnType<typeof heldWorld>['open']>[0]
    readonly work?: WorkOptions
  } = {},
) => {
  const held = heldProvider(given.provider)
  const world = heldWorld(definition, held.provider)
  const place = world.open(given.place)
  const { jobId } = await place.engine.submit(world.submission(given.submission))
  const stop = new AbortController()
  const working = place.work({ slots: 1, leaseMs: 60_000, ...given.work }, stop.signal)
  await world.clock.advance(500)
  const end = async (): Promise<void> => {
    stop.abort()
    await world.clock.advance(60_000)
    await working
  }
  const status = () => place.engine.status(jobId)
  /** As somebody does who watched the first owner be silent for its whole lease. */
  const expireLease = async (append = world.events.append) => {
    const { revision, leaseToken } = await status()
    const stamp = { commandId: `expire ${revision}`, actor: 'test', at: new Date(world.clock.now()).toISOString() }
    const deps = { events: { ...world.events, append }, snapshots: world.views, sha256, clock: world.clock }
    await handle(deps, JobId.parse(jobId), [
      { type: 'ExpireLease', ...stamp, token: leaseToken ?? 0, ownerRevision: revision, reason: 'expired' },
    ])
  }
  const types = () => world.typesOf(jobId)
  return { ...world, ...held, ...place, jobId, stop, working, end, status, types, expireLease }
}
