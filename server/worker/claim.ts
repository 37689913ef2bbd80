import { RevisionConflict } from '../../domain/errors.ts'
import { jobStream } from '../../domain/ids.ts'
import type { Command } from '../../domain/job/commands.ts'
import type { Job } from '../../domain/job/job.ts'
import { isRejection } from '../../domain/rejection.ts'
import { appendDefinitely } from '../command/appendDefinitely.ts'
import { decideInTurn } from '../command/decideInTurn.ts'
import { loadJob } from '../command/loadJob.ts'
import type { Claim, Workshop } from './attempt.ts'
import type { Due } from './todo.ts'

/** What came of trying: the job is ours, only what was due was recorded, somebody else was first, or nothing was due. */
export type Taken = { readonly claim: Claim } | 'recorded' | 'lost' | 'nothing'

/**
 * Records what is due for a job and, where this process can run it and has a slot for it, claims and starts it in the
 * same append. Who was first the append decides.
 */
export const take = async (
  shop: Workshop,
  due: Due,
  wish: { readonly hasSlot: boolean; readonly leaseMs: number },
  signal: AbortSignal,
): Promise<Taken> => {
  const { clock, random, events, sha256, workerId } = shop
  const loaded = await loadJob(shop, due.jobId)
  const { job } = loaded
  if (job === null) return 'nothing'
  const lacking = wish.hasSlot ? lackingFor(shop, job) : null
  if (lacking !== null && due.first === null) shop.telemetry.notRunnable(due.jobId, lacking)
  const claims = wish.hasSlot && lacking === null
  const stamp = () => ({ commandId: random.id(), actor: `worker:${workerId}`, at: new Date(clock.now()).toISOString() })
  const commands: Command[] = []
  if (due.first !== null) commands.push({ ...due.first, ...stamp() })
  if (claims) {
    commands.push({ type: 'ClaimJob', owner: workerId, leaseMs: wish.leaseMs, ...stamp() })
    // Refused with the claim, so that no token but the one just given is used.
    commands.push({ type: 'StartJob', token: job.lastToken + 1, ...stamp() })
  }

  const claimedAt = clock.monotonic()
  const { outcomes, sealed, next } = decideInTurn(loaded, commands, sha256)
  if (sealed.length === 0) return 'nothing'
  try {
    const onTrouble: Parameters<typeof appendDefinitely>[0]['onTrouble'] = (error) => shop.telemetry.trouble('store', error)
    await appendDefinitely({ events, clock, onTrouble }, { stream: jobStream(due.jobId), sealed, expected: loaded.revision }, signal)
  } catch (error) {
    if (error instanceof RevisionConflict) return 'lost'
    throw error
  }
  const [first] = outcomes
  const isRecorded = first !== undefined && !isRejection(first) && first.events.length > 0
  if (due.first?.type === 'ExpireLease' && isRecorded) shop.telemetry.leaseExpired(due.jobId, due.first.token, due.first.reason)
  const claimed = claims ? outcomes.at(-1) : undefined
  const lease = next.job?.lease
  if (claimed === undefined || isRejection(claimed) || lease === null || lease === undefined) return 'recorded'
  return { claim: { jobId: due.jobId, loaded: next, token: lease.token, claimedAt } }
}

/** What this process would need to work the job; null when it can. */
const lackingFor = (shop: Workshop, job: Job): string | null => {
  const { type, definitionVersion, stages, provider } = job.spec
  if (shop.definitionOf(job) === null) {
    return `it has no definition of type "${type}", version ${definitionVersion}, with the stages ${stages.join(', ')}`
  }
  if (provider === null || shop.providerOf(job) !== null) return null
  return `it has no provider "${provider.name}"${provider.baseUrl === null ? '' : ` at ${provider.baseUrl}`}`
}
