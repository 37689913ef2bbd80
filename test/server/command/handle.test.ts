import { describe, expect, test } from 'vitest'
import { memoryEventStore } from '../../../adapters/memory/memoryEventStore.ts'
import { memoryViewStore } from '../../../adapters/memory/memoryViewStore.ts'
import { sha256 } from '../../../adapters/system/sha256.ts'
import { RevisionConflict, StoreUnavailable } from '../../../domain/errors.ts'
import { jobStream } from '../../../domain/ids.ts'
import type { Command } from '../../../domain/job/commands.ts'
import { appendBytesMax, type EventStore } from '../../../domain/ports/eventStore.ts'
import { isRejection } from '../../../domain/rejection.ts'
import { decideInTurn } from '../../../server/command/decideInTurn.ts'
import { handle, type Handling } from '../../../server/command/handle.ts'
import { emptyJob, loadJob } from '../../../server/command/loadJob.ts'
import { instant, jobId, spec } from '../../support/controls.ts'
import { manualClock } from '../../support/manualClock.ts'

const by = (commandId: string) => ({ commandId, actor: 'somebody', at: instant(1) })
const submit: Command = { type: 'SubmitJob', ...by('submit'), spec: spec() }
const claim = (commandId: string): Command => ({ type: 'ClaimJob', ...by(commandId), owner: 'w', leaseMs: 1_000 })
const log = (commandId: string, message: string): Command => ({
  type: 'LogJob',
  ...by(commandId),
  token: 1,
  level: 'info',
  message,
})

const handling = (over: Partial<EventStore> = {}): Handling & { clock: ReturnType<typeof manualClock> } => {
  const views = memoryViewStore()
  return { events: { ...memoryEventStore(), ...over }, snapshots: views, sha256, clock: manualClock() }
}

describe('handling commands', () => {
  test('decides each against the job as those before it leave it, in one append', async () => {
    const deps = handling()
    const { outcomes, loaded } = await handle(deps, jobId, [submit, claim('c')])
    expect(outcomes.map(isRejection)).toEqual([false, false])
    expect(loaded.job?.state).toBe('leased')
    const stored = await deps.events.readStream(jobStream(jobId))
    expect(stored.map((event) => event.type)).toEqual(['JobSubmitted', 'JobLeased'])
    expect(JSON.parse(stored[1]?.meta ?? '')).toMatchObject({ leaseToken: 1 })
  })

  test('writes nothing for a refusal, and goes on with what stands behind it', async () => {
    const deps = handling()
    await handle(deps, jobId, [submit])
    const pause: Command = { type: 'PauseJob', ...by('p') }
    const { outcomes, loaded } = await handle(deps, jobId, [log('l', 'nobody owns it'), pause])
    expect(outcomes[0]).toMatchObject({ rejected: 'lease_lost' })
    expect(loaded.job?.state).toBe('paused')
  })

  test('decides again after a lost race, at most as often as allowed', async () => {
    const store = memoryEventStore()
    let races = 0
    const racing: EventStore['append'] = (stream, events, expected) => {
      races += 1
      if (races <= 2) return Promise.reject(new RevisionConflict(stream, expected, 9))
      return store.append(stream, events, expected)
    }
    const deps = { ...handling(), events: { ...store, append: racing } }
    await handle(deps, jobId, [submit])
    expect(races).toBe(3)
    races = 0
    await expect(handle(deps, jobId, [claim('c')], { attemptsMax: 2 })).rejects.toBeInstanceOf(RevisionConflict)
  })

  test('repeats the same bytes while the answer is unknown, so that they land once', async () => {
    const store = memoryEventStore()
    const sent: string[] = []
    const lossy: EventStore['append'] = async (stream, events, expected) => {
      sent.push(JSON.stringify(events))
      await store.append(stream, events, expected)
      if (sent.length < 3) throw new StoreUnavailable('the reply was lost')
    }
    const deps = { ...handling(), events: { ...store, append: lossy } }
    const handled = handle(deps, jobId, [submit])
    await deps.clock.advance(1_000)
    await handled
    expect(sent).toHaveLength(3)
    expect(new Set(sent).size).toBe(1)
    expect(await store.readStream(jobStream(jobId))).toHaveLength(1)
  })
})

describe('deciding in turn', () => {
  test('leaves for the next append what would grow over the limit', async () => {
    const deps = handling()
    await handle(deps, jobId, [submit, claim('c')])
    const loaded = await loadJob(deps, jobId)
    const large = 'x'.repeat(appendBytesMax / 2 - 1_000)
    const { outcomes, sealed } = decideInTurn(loaded, [log('1', large), log('2', large), log('3', large)], sha256)
    expect(outcomes).toHaveLength(2)
    expect(sealed).toHaveLength(2)
  })

  test('writes nothing to a job with an event of a newer program, whoever asks', () => {
    const unknown = { storedType: 'JobPainted', schemaVersion: 1, revision: 4 }
    const loaded = { ...emptyJob(jobId, sha256), unknown: unknown as never }
    const { outcomes, sealed } = decideInTurn(loaded, [submit], sha256)
    expect(outcomes).toMatchObject([{ rejected: 'newer_schema' }])
    expect(sealed).toEqual([])
  })
})

describe('loading a job', () => {
  const worked = async (events: number) => {
    const deps = handling()
    const commands = Array.from({ length: events }, (_, index) => log(`l${index}`, `line ${index}`))
    await handle(deps, jobId, [submit, claim('c')])
    for (let from = 0; from < events; from += 400) await handle(deps, jobId, commands.slice(from, from + 400))
    return deps
  }

  test('reads no more than the tail behind its snapshot', async () => {
    const deps = await worked(2_500)
    const whole = await loadJob(deps, jobId)
    const read: number[] = []
    const counting: EventStore['readStream'] = async (stream, options) => {
      const page = await deps.events.readStream(stream, options)
      read.push(page.length)
      return page
    }
    const again = await loadJob({ ...deps, events: { ...deps.events, readStream: counting } }, jobId)
    expect(again).toEqual(whole)
    expect(read.reduce((sum, count) => sum + count, 0)).toBeLessThan(1_001)
  })

  test.each([
    ['whose event has another hash', { hash: 'f'.repeat(64) }],
    ['of another version of the fold', { foldVersion: 999 }],
    ['whose text was changed', { state: '{"state":"succeeded"}' }],
  ])('does not use a snapshot %s', async (_, change) => {
    const deps = await worked(2_500)
    const whole = await loadJob(deps, jobId)
    const snapshot = await deps.snapshots.loadSnapshot(jobStream(jobId))
    if (snapshot === null) throw new Error('a snapshot was saved')
    const snapshots = { ...deps.snapshots, loadSnapshot: async () => ({ ...snapshot, ...change }) }
    expect(await loadJob({ ...deps, snapshots }, jobId)).toEqual(whole)
  })
})
