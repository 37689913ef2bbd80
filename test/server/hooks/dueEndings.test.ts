import { expect, test } from 'vitest'
import { dueEndings } from '../../../server/hooks/dueEndings.ts'
import { heldProvider, heldWorld, jobThat } from '../../support/heldPlace.ts'

/** Readers of one store, and jobs that end when they are told to. */
const sharedEndings = async (readers: number) => {
  const world = heldWorld(jobThat(async () => 'done'), heldProvider().provider)
  const { engine } = world.open()
  const open = new Set<string>()
  const all = Array.from({ length: readers }, (_, index) =>
    dueEndings({ ...world, kind: 'webhook', presence: null, taker: `taker ${index}`, isOpen: (eventId) => open.has(eventId) }),
  )
  for (const reader of all) await reader.begin()
  const cancelled = async (key: string): Promise<void> => {
    const { jobId } = await engine.submit(world.submission({ idempotencyKey: key }))
    await engine.cancel(jobId)
  }
  /** Looks with all readers at the same time. */
  const race = async (free = 8) => {
    const looks = await Promise.all(all.map((reader) => reader.look(free)))
    const taken = looks.flatMap((look) => look.taken)
    taken.forEach(({ eventId }) => open.add(eventId))
    return { looks, taken }
  }
  return { ...world, all, cancelled, race }
}

test('of readers that look at the same time one takes what has just ended', async () => {
  const { race, cancelled } = await sharedEndings(3)
  await cancelled('a')
  await cancelled('b')
  const { looks, taken } = await race()
  expect(taken).toHaveLength(2)
  expect(looks.filter((look) => look.isWhole)).toHaveLength(1)
  expect((await race()).taken).toEqual([])
})

test('of readers that see a wait end at the same time one takes what has waited', async () => {
  const { race, cancelled, all, clock } = await sharedEndings(3)
  await cancelled('a')
  const [due] = (await race()).taken
  if (due === undefined) throw new Error('nothing was taken')
  await Promise.all(all.map((reader) => reader.close(due, { ...due, taker: null, tries: 1, waitMs: 1_000 })))
  expect((await race()).taken).toEqual([])
  await clock.advance(999)
  expect((await race()).taken).toEqual([])
  await clock.advance(1)
  expect((await race()).taken).toMatchObject([{ eventId: due.eventId, tries: 1 }])
})

test('endings beyond what is free wait, the first to end first', async () => {
  const { race, cancelled, all } = await sharedEndings(1)
  for (const key of ['a', 'b', 'c']) await cancelled(key)
  const first = await race(2)
  expect(first.looks).toMatchObject([{ waiting: 1, isWhole: true }])
  expect(first.taken).toHaveLength(2)
  for (const due of first.taken) await all[0]?.close(due, null)
  expect((await race(2)).taken).toHaveLength(1)
})
