import { describe, expect, test } from 'vitest'
import { anthropicAnswer } from '../../../adapters/providers/anthropicAnswer.ts'
import { scriptedAnthropic } from './scriptedHttp.ts'

const anthropic = scriptedAnthropic()
const answerTo = (message: object) => anthropicAnswer(message, 'cached_beside')

describe('an answer that is none may be billed', () => {
  test.each([
    ['an empty body', { raw: '' }, true],
    ['half of its JSON', { raw: '{"content":[{"type":"te' }, true],
    ['JSON without content', { json: { type: 'message' } }, false],
    ['content that is no list', { json: { content: 'Hello.' } }, false],
    ['an error of a type nobody knows', { json: { type: 'error', error: { type: 'strange', message: 'No.' } } }, false],
    ['null', { raw: 'null' }, false],
    ['content under __proto__', { raw: '{"__proto__":{"content":[{"type":"text","text":"x"}]}}' }, false],
  ])('%s', async (_, body, retryable) => {
    const failure = await anthropic.failure({ body })
    expect(failure).toMatchObject({ code: 'invalid_answer', kind: 'provider', billed: 'unknown', retryable })
  })

  test('an overload inside of a 200 passes', async () => {
    const json = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    const failure = await anthropic.failure({ body: { json } })
    expect(failure).toMatchObject({ code: 'provider_unavailable', kind: 'transient', billed: 'unknown', status: 200 })
  })
})

describe('the text of an answer', () => {
  test('is that of its text blocks, without what the model thought', () => {
    const content = [
      { type: 'thinking', thinking: 'Hm.', text: 'Hm.', signature: 's' },
      { type: 'text', text: 'One, ' },
      { type: 'redacted_thinking', data: 'x' },
      { type: 'text', text: 'two.' },
      { type: 'text' },
      { type: 'text', text: 3 },
      null,
    ]
    expect(answerTo({ content })?.text).toBe('One, two.')
  })

  test('may be empty', () => expect(answerTo({ content: [] })).toEqual({ text: '', finishReason: null, usage: null }))

  test('O-15: has half a character replaced, and whole ones kept', async () => {
    const raw = '{"content":[{"type":"text","text":"\\ud83d half, \\ud83d\\udd25 whole"}]}'
    expect((await anthropic.answer({ body: { raw } })).text).toBe('\ufffd half, 🔥 whole')
  })

  test('O-13: is not changed by keys of an object’s prototype', async () => {
    const raw = '{"__proto__":{"x":1},"content":[{"type":"text","text":"Fine.","__proto__":{"text":"No."}}]}'
    expect((await anthropic.answer({ body: { raw } })).text).toBe('Fine.')
  })
})

describe('the reason to stop', () => {
  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'refusal'],
    ['pause_turn', 'pause_turn'],
    [null, null],
    ['x'.repeat(200), 'x'.repeat(100)],
  ])('%s is told as %s', (said, told) => {
    expect(answerTo({ content: [], stop_reason: said })?.finishReason).toBe(told)
  })
})
