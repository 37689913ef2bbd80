import { expect, test } from 'vitest'
import { StoreUnavailable } from '../../../domain/errors.ts'
import { silentTelemetry } from '../../../server/telemetry.ts'
import { asks, heldProvider, heldWorld } from '../../support/heldPlace.ts'

const world = () => heldWorld(asks('a'), heldProvider().provider)

test('an unfinished job of the same input under an earlier version is named before a new one is made', async () => {
  const here = world()
  const notices: string[] = []
  const telemetry = { ...silentTelemetry, notice: (message: string) => void notices.push(message) }
  const old = await here.open().engine.submit(here.submission())
  const { engine } = here.open({ definitions: [{ ...asks('a'), version: 3 }], telemetry })
  const now = await engine.submit(here.submission())
  expect(now).toMatchObject({ existing: false, definitionVersion: 3 })
  expect(now.jobId).not.toBe(old.jobId)
  expect(notices).toEqual([
    `job ${old.jobId} of the same input is queued, under version 1 of its definition: ` +
      `what is submitted now is another job, under version 3`,
  ])
  await engine.submit(here.submission())
  expect(notices).toHaveLength(1)
})

test('a finished job of an earlier version is not worth a word, and neither is one of another input', async () => {
  const here = world()
  const notices: string[] = []
  const telemetry = { ...silentTelemetry, notice: (message: string) => void notices.push(message) }
  const before = here.open().engine
  await before.cancel((await before.submit(here.submission())).jobId)
  await before.submit(here.submission({ input: 'another' }))
  await here.open({ definitions: [{ ...asks('a'), version: 2 }], telemetry }).engine.submit(here.submission())
  expect(notices).toEqual([])
})

test('a start that is no instant is refused by name', async () => {
  const here = world()
  await expect(here.open().engine.submit(here.submission({ startAfter: 'soon' }))).rejects.toMatchObject({
    code: 'invalid_input',
    details: { startAfter: 'soon' },
  })
})

test('a command whose store stays away is told so after half a minute, and may be given again', async () => {
  const here = world()
  const { engine } = here.open()
  const { jobId } = await engine.submit(here.submission())
  const { append } = here.events
  here.events.append = async () => {
    throw new StoreUnavailable('the disk is full', { cause: 'ENOSPC' })
  }
  const refused = engine.pause(jobId).catch((error: unknown) => error)
  await here.clock.advance(36_000)
  expect(await refused).toMatchObject({ code: 'store_unavailable', details: { cause: 'ENOSPC' } })
  expect(String(await refused)).toContain('the disk is full: whether it was recorded is not known')
  here.events.append = append
  expect((await engine.pause(jobId)).state).toBe('paused')
})

test('a job loads though its snapshots cannot be read or written', async () => {
  const here = world()
  const { engine } = here.open()
  const { jobId } = await engine.submit(here.submission())
  const away = (): Promise<never> => Promise.reject(new StoreUnavailable('the views are away'))
  const without = here.open({ views: { ...here.views, loadSnapshot: away, saveSnapshot: away } })
  expect((await without.engine.status(jobId)).state).toBe('queued')
})
