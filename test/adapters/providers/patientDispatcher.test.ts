import { afterEach, describe, expect, test } from 'vitest'
import { patientDispatcher } from '../../../adapters/providers/patientDispatcher.ts'
import { scriptedOpenai } from './scriptedHttp.ts'

const place = Symbol.for('undici.globalDispatcher.1')
const openai = scriptedOpenai()

describe('the dispatcher that waits longer than 300 seconds', () => {
  const inUse = (): unknown => Reflect.get(globalThis, place)
  let before: unknown
  afterEach(() => {
    if (before !== undefined) Reflect.set(globalThis, place, before)
  })

  test('is of the class in use, with no time limit of its own, and a call goes through it', async () => {
    const dispatcher = await patientDispatcher()
    expect(dispatcher?.constructor).toBe(Object(inUse()).constructor)
    expect(dispatcher).not.toBe(inUse())
    expect((await openai.answer({ text: 'Through.' })).text).toBe('Through.')
  })

  test('is none where the user has set another, which stays in use', async () => {
    await patientDispatcher()
    before = inUse()
    let dispatched = 0
    class ProxyAgent {
      dispatch(...call: unknown[]): unknown {
        dispatched += 1
        return Reflect.apply(Reflect.get(Object(before), 'dispatch'), before, call)
      }
    }
    Reflect.set(globalThis, place, new ProxyAgent())
    expect(await patientDispatcher()).toBeUndefined()
    expect((await openai.answer({ text: 'Through.' })).text).toBe('Through.')
    expect(dispatched).toBeGreaterThan(0)
  })
})
