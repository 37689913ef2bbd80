import { expect, test } from 'vitest'
import { standing } from '../../../server/worker/standing.ts'
import { manualClock } from '../../support/manualClock.ts'

test('a fact stands from when it was first seen, whatever the wall clock says', async () => {
  const clock = manualClock()
  const facts = standing(clock)
  expect(facts.standsMs('job', 'token 1')).toBe(0)
  clock.setWall(clock.now() + 600_000)
  await clock.advance(1_500)
  expect(facts.standsMs('job', 'token 1')).toBe(1_500)
})

test('a fact that changed is seen for the first time', async () => {
  const clock = manualClock()
  const facts = standing(clock)
  facts.standsMs('job', 'token 1')
  await clock.advance(1_500)
  expect(facts.standsMs('job', 'token 2')).toBe(0)
})

test('after a fault everything is seen for the first time again', async () => {
  const clock = manualClock()
  const facts = standing(clock)
  facts.standsMs('job', 'token 1')
  await clock.advance(1_500)
  facts.forget()
  expect(facts.standsMs('job', 'token 1')).toBe(0)
})

test('what is not kept is forgotten, and what passed before may be counted in', async () => {
  const clock = manualClock()
  const facts = standing(clock)
  facts.standsMs('left', 'a')
  facts.standsMs('kept', 'a')
  await clock.advance(100)
  facts.keep(new Set(['kept']))
  expect(facts.standsMs('kept', 'a')).toBe(100)
  expect(facts.standsMs('left', 'a')).toBe(0)
  expect(facts.standsMs('new', 'a', 700)).toBe(700)
})
