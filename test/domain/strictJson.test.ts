import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InvalidInputError } from '../../domain/errors.ts'
import { nestingMax, preview, readStrictJson, refuseHostile, wellFormed } from '../../domain/strictJson.ts'

const seed = 20_260_108

/** Any UTF-16 unit, half of them halves of a pair. */
const anyUnit = fc
  .oneof(fc.nat(0xffff), fc.integer({ min: 0xd800, max: 0xdfff }))
  .map((code) => String.fromCharCode(code))

const refusal = (text: string): InvalidInputError => {
  try {
    readStrictJson(text)
  } catch (error) {
    if (error instanceof InvalidInputError) return error
    throw error
  }
  throw new Error(`was read: ${text.slice(0, 80)}`)
}

describe('strict JSON', () => {
  test(`reads back what was written (seed ${seed})`, () => {
    // JSON has no negative zero of its own to give back.
    const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
    const double = fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .filter((value) => !Number.isInteger(value) || Number.isSafeInteger(value))
    const someJson = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.string({ unit: 'grapheme' }),
        double,
        fc.maxSafeInteger(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value')),
        fc.dictionary(
          fc.string({ unit: 'grapheme' }).filter((key) => key !== '__proto__'),
          tie('value'),
        ),
      ),
    })).value
    fc.assert(
      fc.property(someJson, (value) => {
        expect(readStrictJson(JSON.stringify(value))).toEqual(plain(value))
      }),
      { seed, numRuns: 500 },
    )
  })

  test.each([
    ['at the top', '{"__proto__":{"admin":true}}', '$.__proto__'],
    ['in an object', '{"config":{"__proto__":1}}', '$.config.__proto__'],
    ['in an array', '{"lines":[{},{"meta":{"__proto__":null}}]}', '$.lines[1].meta.__proto__'],
    ['spelled with escapes', '{"a":{"\\u005f_proto_\\u005f":1}}', '$.a.__proto__'],
  ])('refuses a key __proto__ %s and names where it stands', (_where, text, path) => {
    const refused = refusal(text)
    expect(refused).toMatchObject({ code: 'invalid_input', details: { path } })
    expect(refused.message).toContain(path)
  })

  test('keeps every other key that every object seems to have', () => {
    const text = '{"constructor":{"prototype":1},"hasOwnProperty":2,"toString":null,"valueOf":"x","":{" ":0}}'
    expect(JSON.stringify(readStrictJson(text))).toBe(text)
  })

  test('leaves no trace on other objects', () => {
    refusal('{"__proto__":{"polluted":true}}')
    readStrictJson('{"constructor":{"prototype":{"polluted":true}}}')
    expect('polluted' in {}).toBe(false)
  })

  test.each([
    '9007199254740992',
    '9007199254740993',
    '-9007199254740993',
    '12345678901234567890',
    '9007199254740993.0',
    '9007199254740992.5',
    '1e16',
    '1e300',
    '1e999',
    '-1E+999',
    '1e-999',
    `1${'0'.repeat(400)}`,
  ])('refuses the number %s, which would become another', (number) => {
    expect(refusal(`{"a":[1,"x\\"",${number}]}`).message).toMatch(/^the number .{1,41} cannot be kept exactly/)
    expect(refusal(number).code).toBe('invalid_input')
  })

  test.each(['0', '-0', '0.0', '0e999', '1.5', '-2.25e-3', '9007199254740991', '-9007199254740991', '1E5', '0.1'])(
    'reads the number %s',
    (number) => {
      expect(readStrictJson(`[${number}]`)).toEqual([Number(number)])
    },
  )

  test.each([
    ['at the top', '{"limit":1,"limit":100}', 'limit'],
    ['spelled in two ways', String.raw`{"limit":1,"\u006cimit":100}`, 'limit'],
    ['with others between', '{"a":[{"b":1,"c":{"b":2},"d":[3],"b" : 4}]}', 'b'],
    ['the empty one', '{"":1,"":1}', ''],
  ])('refuses a key that stands twice in one object, %s, and names it', (_where, text, key) => {
    expect(refusal(text)).toMatchObject({ code: 'invalid_input', details: { key } })
  })

  test('reads a key that stands in several objects, or in a text', () => {
    const text = '{"a":{"a":[{"a":1},{"a":2}],"b":"\\"a\\":{","c":"a:"},"b":"{\\"a\\":1,\\"a\\":2}","c":["a","a"]}'
    expect(readStrictJson(text)).toEqual(JSON.parse(text))
  })

  test('takes digits inside a text for text', () => {
    const text = String.raw`{"12345678901234567890":"98765432109876543210 \"1e999\" \\"}`
    expect(readStrictJson(text)).toEqual(JSON.parse(text))
  })

  test.each([
    ['in a text', String.raw`{"a":["\ud83d"]}`, '$.a[0]'],
    ['the second half alone', String.raw`{"a":"x\udd25"}`, '$.a'],
    ['twice the first half', String.raw`["\ud83d\ud83d\udd25"]`, '$[0]'],
    ['in a key', String.raw`{"\ud83d":1}`, '$.\ud83d'],
    ['unescaped', '["\ud83d"]', '$[0]'],
    ['at the top', String.raw`"\ud83d"`, '$'],
  ])('refuses half a surrogate pair %s and names where it stands', (_where, text, path) => {
    expect(refusal(text).details).toEqual({ path })
  })

  test('keeps NUL, control characters, line separators and whole pairs', () => {
    const text = String.raw`["\u0000","a\u0000b","\u001f\u2028\u2029\ufffe\uffff","\ud83d\udd25","🔥"]`
    expect(readStrictJson(text)).toEqual(['\0', 'a\0b', '\u001f\u2028\u2029\ufffe\uffff', '🔥', '🔥'])
  })

  test.each([
    ['arrays', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('refuses 100 000 levels of %s without overflowing the stack', (_what, left, right) => {
    const deep = (levels: number) => `${left.repeat(levels)}1${right.repeat(levels)}`
    expect(refusal(deep(100_000)).message).toContain(`nested deeper than ${nestingMax} levels`)
    expect(refusal(deep(nestingMax + 1)).code).toBe('invalid_input')
    expect(readStrictJson(deep(nestingMax))).toEqual(JSON.parse(deep(nestingMax)))
  })

  test('refuses 100 000 levels that never end', () => {
    expect(refusal('['.repeat(100_000)).code).toBe('invalid_input')
  })

  test('reads a text of many megabytes', () => {
    const text = `${'a'.repeat(16_000_000)}\\n${'"'.repeat(100)}`
    expect(readStrictJson(JSON.stringify([text]))).toEqual([text])
  })

  test.each(['', ' ', '{', "{'a':1}", '[1,]', '01', 'NaN', 'undefined', '"\u0000"', '\ufeff{}'])(
    'refuses %j, which is no JSON',
    (text) => {
      expect(refusal(text).message).toMatch(/^not JSON: /)
    },
  )

  test('names the place of a hostile value that was read already, in the words of whoever read it', () => {
    const hostile = JSON.parse('{"labels":{"__proto__":"x"}}') as unknown
    expect(() => refuseHostile(hostile, 'body')).toThrow('body.labels.__proto__ is a key that is not allowed')
    expect(() => refuseHostile({ labels: { team: 'red' } }, 'body')).not.toThrow()
  })
})

/** As a UTF-8 encoder that has never heard of half a pair would leave it. */
const asUtf8 = (text: string): string => Buffer.from(text, 'utf8').toString('utf8')

describe('a preview', () => {
  test('never cuts a surrogate pair', () => {
    const text = `${'x'.repeat(99)}🔥${'y'.repeat(2_048)}`
    for (const lengthMax of [99, 100, 101, 102, 103])
      expect(asUtf8(preview(text, lengthMax))).toBe(preview(text, lengthMax))
    expect(preview(text, 101)).toBe(`${'x'.repeat(99)}…`)
    expect(preview(text, 102)).toBe(`${'x'.repeat(99)}🔥…`)
  })

  test('is the text itself when that is short enough', () => {
    expect(preview('🔥🔥', 4)).toBe('🔥🔥')
  })

  test(`is well-formed, short enough and the beginning of the text (seed ${seed})`, () => {
    fc.assert(
      fc.property(fc.string({ unit: anyUnit }), fc.integer({ min: 1, max: 20 }), (text, lengthMax) => {
        const short = preview(text, lengthMax)
        expect(asUtf8(short)).toBe(short)
        expect(short.length).toBeLessThanOrEqual(lengthMax)
        const whole = asUtf8(text)
        expect(whole.startsWith(short.replace(/…$/, '')) || short === whole).toBe(true)
      }),
      { seed, numRuns: 500 },
    )
  })

  test('puts U+FFFD in the place of each lone surrogate and changes nothing else', () => {
    expect(wellFormed('a\ud83db🔥\udd25\0')).toBe('a\ufffdb🔥\ufffd\0')
    expect(preview('\ud83d', 10)).toBe('\ufffd')
  })
})
