import { describe, expect, test } from 'vitest'
import { InvalidInputError } from '../../../domain/errors.ts'
import { wellFormed } from '../../../domain/strictJson.ts'
import { batchJob } from '../../../server/jobs/batch/batchJob.ts'
import { readBatch } from '../../../server/jobs/batch/readBatch.ts'
import { stageLog, stored } from '../../support/stageContext.ts'

type Content = string | Uint8Array
type Settings = { model: string | null; parameters: Record<string, unknown> }
const bytesOf = (content: Content) => (typeof content === 'string' ? new TextEncoder().encode(content) : content)

const inspectFiles = (files: Record<string, Content>, settings: Partial<Settings> = {}) => {
  const given = Object.entries(files).map(([name, content]) => ({
    file: { name, content: bytesOf(content) },
    ref: stored(stageLog(), bytesOf(content)),
  }))
  const { input, calls } = batchJob.inspect!(given, { model: 'small', parameters: {}, target: null, ...settings })
  return { input, requests: calls.map(({ request }) => request) }
}
const inspect = (content: Content, settings: Partial<Settings> = {}) => inspectFiles({ 'a.jsonl': content }, settings)

const refusal = (work: () => unknown): InvalidInputError => {
  try {
    work()
  } catch (error) {
    if (error instanceof InvalidInputError) return error
    throw error
  }
  throw new Error('nothing was refused')
}
const line = (fields: object) => JSON.stringify({ id: 'a', prompt: 'Hi', ...fields })
const mebibytes = (count: number) => count * 1_048_576

describe('a batch as it is submitted', () => {
  test('becomes one request for each line, in order, and refers to its files by hash', () => {
    const { input, requests } = inspectFiles({
      'a.jsonl': `${line({ id: 'z', system: 'Be brief', temperature: 0.2, seed: 7, maxOutputTokens: 9 })}\n`,
      'b.jsonl': `${line({ id: 'y', prompt: undefined, messages: [{ role: 'user', content: '' }], model: 'big' })}\n`,
    })
    expect(input.lines).toBe(2)
    expect(input.files).toEqual([
      expect.objectContaining({ mediaType: 'application/jsonl', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }),
      expect.objectContaining({ mediaType: 'application/jsonl' }),
    ])
    expect(batchJob.input.parse(input)).toEqual(input)
    const [first, second] = requests
    expect(first).toEqual({
      model: 'small',
      messages: [
        { role: 'system', content: 'Be brief' },
        { role: 'user', content: 'Hi' },
      ],
      maxOutputTokens: 9,
      temperature: 0.2,
      seed: 7,
    })
    expect(second).toEqual({ model: 'big', messages: [{ role: 'user', content: '' }], maxOutputTokens: 1024 })
  })

  test('takes from the job what a line does not say itself', () => {
    const { requests } = inspect(`${line({})}\n${line({ id: 'b', seed: 2, maxOutputTokens: 3 })}`, {
      parameters: { maxOutputTokens: 50, temperature: 0, seed: 1 },
    })
    expect(requests).toEqual([
      expect.objectContaining({ maxOutputTokens: 50, temperature: 0, seed: 1 }),
      expect.objectContaining({ maxOutputTokens: 3, temperature: 0, seed: 2 }),
    ])
  })

  test('may have a byte order mark, CRLF, blank lines and no newline at its end', () => {
    expect(inspect(`\uFEFF${line({})}\r\n\r\n \t\n${line({ id: 'b' })}`).input.lines).toBe(2)
  })

  test('OX-22: keeps NUL, U+FFFF, U+2028 and a byte order mark in prompt and id exactly', () => {
    const odd = '\u0000\uFFFF\u2028\u2029\uFEFF😀'
    const { requests } = inspect(line({ id: odd, prompt: odd }))
    expect(requests[0]?.messages).toEqual([{ role: 'user', content: odd }])
  })

  test('names the line of a file with blank lines by its place in the file', () => {
    expect(refusal(() => inspect(`${line({})}\n\n\r\n{`)).message).toMatch(/^a\.jsonl:4: not JSON: /)
  })

  test('with a byte order mark in the middle, as joined files have it, is refused rather than read without it', () => {
    expect(refusal(() => inspect(`${line({})}\n\uFEFF${line({ id: 'b' })}`)).message).toMatch(/^a\.jsonl:2: not JSON: /)
  })

  test('has at most so many lines in all its files together', () => {
    const files = ['a', 'b', 'c'].map((id) => ({ name: `${id}.jsonl`, content: bytesOf(line({ id })) }))
    expect(readBatch(files, 3)).toHaveLength(3)
    expect(refusal(() => readBatch(files, 2)).message).toBe('c.jsonl:1: a batch has at most 2 lines')
  })

  test.each([
    ['a misspelt field', line({ promt: 'Hi', prompt: undefined }), '$.promt', 'did you mean "prompt"?'],
    [
      'a field of another dialect',
      line({ max_output_tokens: 5 }),
      '$.max_output_tokens',
      'did you mean "maxOutputTokens"?',
    ],
    ['a field like no other', line({ constructor: 1 }), '$.constructor', 'known are id, prompt, messages'],
    [
      'an unknown field of a message',
      line({ prompt: undefined, messages: [{ rol: 'user', content: '' }] }),
      '$.messages[0].rol',
      'messages[0] has an unknown field "rol": did you mean "role"?',
    ],
    ['both prompt and messages', line({ messages: [{ role: 'user', content: '' }] }), '$', 'both are given'],
    ['neither prompt nor messages', line({ prompt: undefined }), '$', 'neither is given'],
    ['no id', line({ id: undefined }), '$.id', 'id is missing'],
    ['a number as its id', line({ id: 7 }), '$.id', 'must be a string: write a number as "7"'],
    ['an empty id', line({ id: '' }), '$.id', 'must not be empty'],
    ['an id of 201 characters', line({ id: 'x'.repeat(201) }), '$.id', 'longer than 200 characters'],
    ['an empty prompt', line({ prompt: '' }), '$.prompt', 'must not be empty'],
    ['no messages in the list', line({ prompt: undefined, messages: [] }), '$.messages', 'must not be empty'],
    [
      'a role that is none',
      line({ prompt: undefined, messages: [{ role: 'bot', content: '' }] }),
      '$.messages[0].role',
      'must be "system", "user" or "assistant"',
    ],
    [
      'two systems',
      line({ prompt: undefined, system: 'a', messages: [{ role: 'system', content: 'b' }] }),
      '$.system',
      'is given twice',
    ],
    ['a negative token limit', line({ maxOutputTokens: -1 }), '$.maxOutputTokens', 'must be at least 1'],
    ['half a token', line({ maxOutputTokens: 0.5 }), '$.maxOutputTokens', 'must be a whole number'],
    ['a temperature in words', line({ temperature: 'hot' }), '$.temperature', 'must be a number'],
    ['a list as metadata', line({ metadata: [] }), '$.metadata', 'must be an object'],
    ['no object', '[1]', '$', 'the line must be a JSON object'],
    ['half a line', '{"id": "a", "prompt"', '$', 'not JSON'],
    ['single quotes', "{'id': 'a'}", '$', 'not JSON'],
  ])('with %s is refused, naming file, line, place and rule', (_, content, path, rule) => {
    const error = refusal(() => inspect(`${line({ id: 'good' })}\n${content}\n`))
    expect(error.message).toMatch(/^a\.jsonl:2: /)
    expect(error.message).toContain(rule)
    expect(error.details).toMatchObject({ file: 'a.jsonl', line: 2, path })
  })

  test('with an id that another file has is refused, naming both places', () => {
    const files = { 'a.jsonl': `\n${line({})}`, 'b.jsonl': `${line({ id: 'b' })}\n${line({})}` }
    const error = refusal(() => inspectFiles(files))
    expect(error.message).toBe('b.jsonl:2: id "a" is taken: it stands at a.jsonl:2 already')
  })

  test('with a line that has no model is refused when the job has none either', () => {
    const content = `${line({ model: 'big' })}\n${line({ id: 'b' })}`
    expect(refusal(() => inspect(content, { model: null })).message).toMatch(/^a\.jsonl:2: no model/)
    expect(inspect(content).requests.map(({ model }) => model)).toEqual(['big', 'small'])
  })

  test('with a parameter that is unknown or out of range is refused', () => {
    const of = (parameters: Record<string, unknown>) => refusal(() => inspect(line({}), { parameters })).message
    expect(of({ temprature: 1 })).toBe('a batch has no parameter "temprature": did you mean "temperature"?')
    expect(of({ maxOutputTokens: 0 })).toBe('parameter maxOutputTokens must be at least 1')
  })

  test.each([
    ['an empty file', ''],
    ['a file of blank lines', '\n\r\n  \n'],
    ['a byte order mark alone', '\uFEFF'],
  ])('with %s is refused', (_, content) => {
    const error = refusal(() => inspectFiles({ 'a.jsonl': line({}), 'b.jsonl': content }))
    expect(error.message).toMatch(/^b\.jsonl is empty/)
  })

  test('without a file is refused', () => {
    expect(refusal(() => inspectFiles({})).message).toMatch(/needs a file/)
  })
})

describe('a file that is not what its name says', () => {
  test('is refused as no text where it holds NUL', () => {
    const zip = Uint8Array.of(0x50, 0x4b, 3, 4, 0, 1)
    expect(refusal(() => inspect(zip)).message).toBe('a.jsonl is not text: its byte 4 is NUL')
  })

  test('is refused with a hint where it is UTF-16', () => {
    const utf16 = Buffer.from(`\uFEFF${line({})}`, 'utf16le')
    expect(refusal(() => inspect(utf16)).message).toMatch(/looks like UTF-16: save it as UTF-8/)
  })

  test('is refused, naming the line, where it is not UTF-8', () => {
    const latin1 = Buffer.concat([Buffer.from(`${line({})}\n{"id": "`), Buffer.from([0xe9]), Buffer.from('"}')])
    expect(refusal(() => inspect(latin1)).message).toMatch(/^a\.jsonl:2: not UTF-8/)
  })

  test('is refused where a line in it is 50 MB long, naming line and size, without reading the line', () => {
    const content = Buffer.concat([Buffer.from(`${line({})}\n`), Buffer.alloc(50_000_000, 'x'), Buffer.from('\n')])
    const error = refusal(() => inspect(content))
    expect(error.message).toBe('a.jsonl:2: a line of 50000000 bytes is over the limit of 4194304')
    expect(error.details).toMatchObject({ file: 'a.jsonl', line: 2, bytes: 50_000_000 })
  })

  test('is accepted up to the very limit of a line, and refused a byte above it', () => {
    const frame = line({ prompt: '' }).length
    const ofBytes = (bytes: number) => line({ prompt: 'x'.repeat(bytes - frame) })
    expect(inspect(ofBytes(mebibytes(4))).input.lines).toBe(1)
    expect(refusal(() => inspect(ofBytes(mebibytes(4) + 1))).message).toMatch(/^a\.jsonl:1: a line of 4194305 bytes/)
  })
})

describe('O-13: hostile JSON', () => {
  test.each([
    ['an own __proto__ key', '{"id":"a","prompt":"x","__proto__":{"x":1}}', '$.__proto__'],
    [
      'a nested __proto__ key',
      '{"id":"a","prompt":"x","metadata":{"b":[{"__proto__":1}]}}',
      '$.metadata.b[0].__proto__',
    ],
    ['half a surrogate pair', '{"id":"a","prompt":"\\ud800"}', '$.prompt'],
    ['half a surrogate pair in a key', '{"id":"a","prompt":"x","metadata":{"\\udc00":1}}', '$.metadata.\uFFFD'],
    ['an integer beyond 2^53', '{"id":"a","prompt":"x","seed":9007199254740993}', '$'],
    ['a number beyond all', '{"id":"a","prompt":"x","metadata":{"n":1e999}}', '$'],
  ])('with %s is refused, naming the line', (_, content, path) => {
    const error = refusal(() => inspect(content))
    expect(error.message).toMatch(/^a\.jsonl:1: /)
    expect(error.details).toMatchObject({ file: 'a.jsonl', line: 1, path })
    expect(wellFormed(JSON.stringify(error))).toBe(JSON.stringify(error))
    expect(wellFormed(error.message)).toBe(error.message)
  })

  test('nested deeper than it could be written again is refused, and 100 levels are not', () => {
    const nested = (levels: number) =>
      `{"id":"a","prompt":"x","metadata":${'{"a":'.repeat(levels - 1)}{"n":1}${'}'.repeat(levels - 1)}}`
    expect(inspect(nested(100)).input.lines).toBe(1)
    expect(refusal(() => inspect(nested(101))).message).toMatch(/metadata must not be nested deeper than 100 levels/)
    expect(refusal(() => inspect(nested(100_000))).message).toMatch(/^a\.jsonl:1: /)
  })

  test('with a key of a megabyte is refused in a message that people can read', () => {
    const error = refusal(() => inspect(line({ ['k'.repeat(1_000_000)]: 1 })))
    expect(error.message.length).toBeLessThan(1_100)
    expect(JSON.stringify(error.details).length).toBeLessThan(1_100)
  })
})
