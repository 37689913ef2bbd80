import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { answerBytesMax } from '../../../adapters/providers/httpProvider.ts'
import { openaiAnswer } from '../../../adapters/providers/openaiAnswer.ts'
import { scriptedOpenai } from './scriptedHttp.ts'

const openai = scriptedOpenai()

describe('an answer that is none may be billed', () => {
  test.each([
    ['an empty body', { raw: '' }, true],
    ['a page', { raw: '<html>Sign in</html>' }, true],
    ['half of its JSON', { raw: '{"choices":[{"mess' }, true],
    ['JSON without choices', { json: { object: 'list' } }, false],
    ['no choice at all', { json: { choices: [] } }, false],
    ['a choice without a message', { json: { choices: [{ index: 0 }] } }, false],
    ['null', { raw: 'null' }, false],
    ['choices under __proto__', { raw: '{"__proto__":{"choices":[{"message":{"content":"x"}}]}}' }, false],
  ])('%s', async (_, body, retryable) => {
    const failure = await openai.failure({ body })
    expect(failure).toMatchObject({ code: 'invalid_answer', kind: 'provider', billed: 'unknown', retryable })
  })
})

describe('O-14: the length of an answer', () => {
  test('of 8 MB is read to its end', async () => {
    const { text } = await openai.answer({ body: { size: 8_000_000 } })
    expect(text.length).toBeGreaterThan(7_999_000)
    expect(text).toMatch(/^x+$/)
  })

  test('at the limit is read, and one byte over it is refused for good and may be billed', async () => {
    expect((await openai.answer({ body: { size: answerBytesMax } })).finishReason).toBe('stop')
    const failure = await openai.failure({ body: { size: answerBytesMax + 1 } })
    expect(failure).toMatchObject({ code: 'answer_too_large', kind: 'provider', billed: 'unknown', retryable: false })
    expect(failure.message).toContain(String(answerBytesMax))
  })

  test('counts after decompression', async () => {
    const base64 = gzipSync(Buffer.alloc(answerBytesMax + 1, 'x')).toString('base64')
    const failure = await openai.failure({ body: { base64 }, headers: { 'content-encoding': 'gzip' } })
    expect(failure.code).toBe('answer_too_large')
  })
})

describe('the text of an answer', () => {
  test('OX-22: keeps NUL, U+FFFF, U+2028 and a byte order mark as they are', async () => {
    const text = '\ufeffa\u0000b\uffffc\u2028d\u2029e\ufefff\u001b'
    expect((await openai.answer({ text })).text).toBe(text)
  })

  test('O-15: has half a character replaced, and whole ones kept', async () => {
    const raw = '{"choices":[{"message":{"content":"\\ud83d half, \\ud83d\\udd25 whole, \\udd25"}}]}'
    expect(await openai.answer({ body: { raw } })).toEqual({
      text: '\ufffd half, 🔥 whole, \ufffd',
      finishReason: null,
      usage: null,
    })
  })

  test('may come in parts, or be what the model declines with', () => {
    const answer = (message: object) => openaiAnswer({ choices: [{ message }] }, 'cached_inside')?.text
    expect(
      answer({
        content: [
          { type: 'text', text: 'One, ' },
          { type: 'text', text: 'two.' },
        ],
      }),
    ).toBe('One, two.')
    expect(answer({ content: null, refusal: 'I would rather not.' })).toBe('I would rather not.')
    expect(answer({ content: null })).toBe('')
  })

  test('O-13: is not changed by keys of an object’s prototype', async () => {
    const raw =
      '{"__proto__":{"polluted":true},"constructor":1,"choices":[{"__proto__":{"x":1},"message":{"content":"Fine.","__proto__":{"content":"No."}}}]}'
    expect((await openai.answer({ body: { raw } })).text).toBe('Fine.')
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })
})
