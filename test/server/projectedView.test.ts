import { expect, test } from 'vitest'
import { memoryViewStore } from '../../adapters/memory/memoryViewStore.ts'
import { readyJobs } from '../../projections/readyJobs.ts'
import { pageOfLog } from '../../server/projector/pageOfLog.ts'
import { projectedView } from '../../server/projector/projectedView.ts'
import { silentTelemetry } from '../../server/telemetry.ts'
import { asks, heldProvider, heldWorld } from '../support/heldPlace.ts'

test('a first page that was folded beside a view of others is whole, though that view is deleted before the commit', async () => {
  const { events, open, submission } = heldWorld(asks('a'), heldProvider().provider)
  await open().engine.submit(submission())
  const log = silentTelemetry
  const page = await pageOfLog(events, log, { after: '', limit: 100 })
  const deleted = memoryViewStore()
  const others = projectedView(readyJobs, { events, views: deleted, log })
  await others.fold(page)
  const anew = memoryViewStore()
  const late = projectedView(readyJobs, { events, views: { ...anew, load: deleted.load }, log })
  expect(await late.fold(page)).toBe(true)
  expect(await anew.scan(readyJobs.name, readyJobs.version)).toEqual(await deleted.scan(readyJobs.name, readyJobs.version))
  expect(await anew.scan(readyJobs.name, readyJobs.version)).toHaveLength(1)
})
