import { expect, test } from 'vitest'
import { asks, heldProvider, heldWorld } from '../../support/heldPlace.ts'

test('O-18: paging while jobs arrive and change shows each of those that were there exactly once', async () => {
  const { provider } = heldProvider()
  const world = heldWorld(asks('a'), provider)
  const { engine } = world.open()
  const submit = async (key: string): Promise<string> => (await engine.submit(world.submission({ idempotencyKey: key }))).jobId
  const old: string[] = []
  for (let index = 0; index < 500; index += 1) old.push(await submit(`old ${index}`))

  const seen: string[] = []
  let cursor: string | undefined
  let page = 0
  do {
    const { items, nextCursor } = await engine.list({ limit: 50, ...(cursor === undefined ? {} : { cursor }) })
    seen.push(...items.map((job) => job.jobId))
    cursor = nextCursor ?? undefined
    for (let index = 0; index < 10; index += 1) await submit(`new ${page} ${index}`)
    for (let index = 0; index < 20; index += 1) await engine.cancel(old[(page * 53 + index * 7) % 500] ?? '')
    page += 1
  } while (cursor !== undefined)
  expect(seen).toEqual(old.toReversed())
})

test('O-18: a cursor that was altered, cut, or made for another filter is refused', async () => {
  const { provider } = heldProvider()
  const world = heldWorld(asks('a'), provider)
  const { engine } = world.open()
  for (const key of ['a', 'b', 'c']) await engine.submit(world.submission({ idempotencyKey: key }))
  const { nextCursor } = await engine.list({ limit: 1 })
  const cursor = nextCursor ?? ''
  const refused = { code: 'invalid_input' }
  await expect(engine.list({ limit: 1, cursor: cursor.slice(0, -3) })).rejects.toMatchObject(refused)
  await expect(engine.list({ limit: 1, cursor: `x${cursor}` })).rejects.toMatchObject(refused)
  await expect(engine.list({ limit: 1, state: 'queued', cursor })).rejects.toMatchObject(refused)
  expect((await engine.list({ limit: 1, cursor })).items).toHaveLength(1)
})
