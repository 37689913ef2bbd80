import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonical } from '../../domain/canonical.ts'
import { JobId, jobIdOf, jobOfStream, jobStream } from '../../domain/ids.ts'
import { jobId } from '../support/controls.ts'

const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')
const seed = 20_260_109

describe('the id of a job', () => {
  test('is that of its project and its key alone', () => {
    expect(jobIdOf('default', 'key', sha256)).toBe(sha256('["default","key"]').slice(0, 32))
    expect(jobIdOf('default', 'key', sha256)).toBe(jobIdOf('default', 'key', sha256))
  })

  test(`is another for another pair, wherever the border between the two lies (seed ${seed})`, () => {
    const pair = fc.tuple(fc.string({ unit: 'grapheme', maxLength: 6 }), fc.string({ unit: 'grapheme', maxLength: 6 }))
    fc.assert(
      fc.property(pair, pair, ([project, key], [otherProject, otherKey]) => {
        const same = project === otherProject && key === otherKey
        expect(jobIdOf(project, key, sha256) === jobIdOf(otherProject, otherKey, sha256)).toBe(same)
      }),
      { seed },
    )
    expect(jobIdOf('a', 'b","c', sha256)).not.toBe(jobIdOf('a","b', 'c', sha256))
    expect(jobIdOf('ab', 'c', sha256)).not.toBe(jobIdOf('a', 'bc', sha256))
  })

  test('names its stream, and the stream names it', () => {
    expect(jobStream(jobId)).toBe('job-0123456789abcdef0123456789abcdef')
    expect(jobOfStream(jobStream(jobId))).toBe(jobId)
  })

  test.each([
    '',
    'job-',
    'job-xyz',
    'tokens',
    `job-${'A'.repeat(32)}`,
    `job-${'0'.repeat(33)}`,
    `xjob-${'0'.repeat(32)}`,
  ])('is not read out of the stream %j', (stream) => {
    expect(jobOfStream(stream)).toBeNull()
  })

  test.each(['', '0'.repeat(31), '0'.repeat(33), 'g'.repeat(32), `${'0'.repeat(32)}\n`])('is never %j', (text) => {
    expect(JobId.safeParse(text).success).toBe(false)
  })
})

describe('canonical JSON', () => {
  test(`is the same whatever the order of the keys (seed ${seed})`, () => {
    const entries = fc.uniqueArray(fc.tuple(fc.string({ unit: 'grapheme' }), fc.jsonValue()), {
      selector: ([key]) => key,
    })
    fc.assert(
      fc.property(entries, (pairs) => {
        const backwards = Object.fromEntries(pairs.toReversed())
        expect(canonical(backwards)).toBe(canonical(Object.fromEntries(pairs)))
        expect(JSON.parse(canonical(backwards))).toEqual(JSON.parse(JSON.stringify(backwards)))
      }),
      { seed },
    )
  })

  test('sorts by UTF-16 code units and writes numbers as RFC 8785 says', () => {
    expect(canonical({ '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6 })).toBe(
      '{"\\r":2,"1":4,"\u0080":6,"€":1,"😀":5,"\ufb33":3}',
    )
    expect(canonical([1e30, 4.5, 2e-3, 1e-27, -0, 333333333.3333333])).toBe(
      '[1e+30,4.5,0.002,1e-27,0,333333333.3333333]',
    )
  })

  test('keeps keys that every object seems to have, so that a hash tells them from nothing', () => {
    const hostile = JSON.parse('{"__proto__":1,"constructor":2,"hasOwnProperty":3}') as unknown
    expect(canonical(hostile)).toBe('{"__proto__":1,"constructor":2,"hasOwnProperty":3}')
    expect(canonical(JSON.parse('{"a":{"__proto__":1}}'))).not.toBe(canonical({ a: {} }))
  })

  test.each([
    ['NaN', Number.NaN, /NaN/],
    ['infinity', Number.POSITIVE_INFINITY, /Infinity/],
    ['a bigint', 1n, /bigint/i],
    ['half a surrogate pair', '\ud83d', /surrogate/],
    ['undefined', undefined, /undefined/],
  ])('refuses %s, which JSON cannot say', (_what, value, reason) => {
    expect(() => canonical(value)).toThrow(reason)
  })

  test('refuses what contains itself', () => {
    const circle: { inner?: unknown } = {}
    circle.inner = circle
    expect(() => canonical(circle)).toThrow(/circular/i)
  })
})
