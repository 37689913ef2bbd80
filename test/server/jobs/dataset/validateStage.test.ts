import { describe, expect, test } from 'vitest'
import { InvalidInputError } from '../../../../domain/errors.ts'
import { Interrupted } from '../../../../server/defineJob.ts'
import type { DatasetInput } from '../../../../server/jobs/dataset/datasetInput.ts'
import { hashOf } from '../../../../server/jobs/dataset/hash.ts'
import { SiftResult } from '../../../../server/jobs/dataset/stageResults.ts'
import { validate } from '../../../../server/jobs/dataset/validateStage.ts'
import { answered, answeredWith, callId, generatedLog, type GivenDocument } from '../../../support/siftedDocuments.ts'
import { stageContext } from '../../../support/stageContext.ts'

const text = 'The “sea gate” of the harbour opens at six.\nIt is shut again when the tide turns.'

const example = (over: Record<string, unknown> = {}) => ({
  family: 'question_answer',
  question: 'When does the sea gate open?',
  answer: 'The sea gate opens at six.',
  quote: 'The “sea gate” of the harbour opens at six.',
  ...over,
})

/** Keeps `validate` from finding nothing at all. */
const sound: GivenDocument = { text, answer: answeredWith(example()) }

const contextOf = (given: readonly GivenDocument[], parameters: Record<string, unknown> = {}) =>
  stageContext<DatasetInput>('validate', { input: { documents: [], licenseFiles: [] }, log: generatedLog(given), parameters }).context

const validated = async (...given: readonly GivenDocument[]): Promise<SiftResult> =>
  SiftResult.parse(await validate(contextOf([...given, sound])))

/** What becomes of one answer. */
const outOf = async (answer: GivenDocument['answer'], over: Partial<GivenDocument> = {}) => {
  const { examples, quarantined } = await validated({ text, ...over, ...(answer === undefined ? {} : { answer }) })
  return { kept: examples.filter(({ document }) => document === 0), quarantined }
}

describe('validate keeps', () => {
  test('an example whose quote is in its chunk, with where it stands', async () => {
    const { kept, quarantined } = await outOf(answeredWith(example()), { pages: [{ number: 4, start: 0, end: text.length }] })
    expect(quarantined).toEqual([])
    expect(kept).toEqual([
      {
        ...example(),
        id: '0-0-question_answer',
        document: 0,
        sourceSpan: { source: hashOf('original 0'), text: hashOf(text), start: 0, end: 43, page: 4 },
        callId,
      },
    ])
  })

  test('the words of the source where the quote differs in typography', async () => {
    const { kept } = await outOf(answeredWith(example({ quote: 'the "Sea Gate" of the\nharbour' })))
    expect(kept).toMatchObject([{ quote: 'The “sea gate” of the harbour', sourceSpan: { start: 0, end: 29 } }])
  })

  test.each([
    ['in a fence', (json: string) => `\`\`\`json\n${json}\n\`\`\``],
    ['with words around it', (json: string) => `Of course! {Here} you are:\n${json}\nIs {that} all?`],
    ['after its thoughts', (json: string) => `<think>{"examples": …}</think>\n${json}`],
  ])('the examples of an answer %s', async (name, around) => {
    const answer = around(JSON.stringify({ examples: [example()] }))
    const { kept } = await outOf(answered(answer))
    expect(kept.length, name).toBe(1)
  })

  test('an answer in a script without spaces', async () => {
    const source = '港の水門は朝六時に開きます。潮が変わると再び閉じます。'
    const { kept } = await outOf(answeredWith(example({ question: '水門はいつ開きますか。', answer: '水門は朝六時に開きます。', quote: '水門は朝六時に開きます' })), { text: source })
    expect(kept).toHaveLength(1)
  })

  test('what a heading says', async () => {
    const { kept } = await outOf(answeredWith(example({ answer: 'Skerrymouth lighthouse keepers: six.' })), { headings: ['Skerrymouth', 'Lighthouse keepers'] })
    expect(kept).toHaveLength(1)
  })

  test('the order of the plan, whatever the order of the answer', async () => {
    const families = ['question_answer', 'summary'] as const
    const { kept } = await outOf(answeredWith(example({ family: 'summary' }), example()), { families })
    expect(kept.map(({ id }) => id)).toEqual(['0-0-question_answer', '0-0-summary'])
  })
})

describe('validate leaves out', () => {
  test.each([
    ['a call that failed', { error: { code: 'content_filter', message: 'not that' } }, 'content_filter', 'not that'],
    ['an answer that is no JSON', answered('Sorry.'), 'invalid_answer', 'no examples'],
    ['an answer of another shape', answered('{"examples":{}}'), 'invalid_answer', 'no examples'],
    ['an answer that was cut', answered('{"examples":[{"family":"question_ans', 'length'), 'answer_cut', 'maxOutputTokens'],
    ['an example without a quote', answeredWith({ ...example(), quote: undefined }), 'invalid_answer', 'its quote is not a string'],
    ['an empty answer', answeredWith(example({ answer: ' … ' })), 'invalid_answer', 'its answer has no word'],
    ['a question without end', answeredWith(example({ question: 'why '.repeat(501) })), 'invalid_answer', 'longer than 2000 characters'],
    ['a field that was not asked for', answeredWith(example({ score: 1 })), 'invalid_answer', 'not asked for'],
    ['a field of JavaScript', answered(`{"examples":[{"__proto__":{},${JSON.stringify(example()).slice(1)}]}`), 'invalid_answer', 'not asked for'],
    ['half a character', answered(JSON.stringify({ examples: [example({ answer: 'six \ud835' })] })), 'invalid_answer', 'half ones'],
    ['a quote that is not in the chunk', answeredWith(example({ quote: 'The sea gate is green.' })), 'quote_not_found', 'not in its chunk'],
    ['an answer from elsewhere', answeredWith(example({ answer: 'Paris is the capital of France, and Rome that of Italy.' })), 'not_grounded', '0 %'],
    ['an answer in another language', answeredWith(example({ answer: 'Das Seetor wird um sechs Uhr geöffnet.' })), 'not_grounded', '%'],
    ['personal data', answeredWith(example({ answer: 'The harbour gate opens at six: write to jane@skerry.org.' })), 'personal_data', 'personal data'],
  ] satisfies readonly [string, NonNullable<GivenDocument['answer']>, string, string][])('%s', async (name, answer, reason, detail) => {
    const { kept, quarantined } = await outOf(answer)
    expect(kept, name).toEqual([])
    expect(quarantined).toMatchObject([{ stage: 'error' in answer ? 'generate' : 'validate', reason, document: 'd0.md', detail: expect.stringContaining(detail) }])
    expect(JSON.stringify(quarantined)).not.toContain('jane@')
  })

  test('a quote of masked text', async () => {
    const { quarantined } = await outOf(answeredWith(example({ quote: 'opens at six. ██████' })), { text: `${text} opens at six. ██████` })
    expect(quarantined).toMatchObject([{ reason: 'personal_data' }])
    expect(quarantined[0]?.example).toBeUndefined()
  })

  test('what was not planned, and says what is missing', async () => {
    const answer = answeredWith(example(), example(), example({ family: 'poem' }), 'nothing')
    const { kept, quarantined } = await outOf(answer, { families: ['question_answer', 'summary'] })
    expect(kept).toHaveLength(1)
    expect(quarantined.map(({ reason, detail }) => [reason, detail])).toEqual([
      ['missing_example', 'the answer has no summary'],
      ['not_planned', expect.stringContaining('3 of 4')],
    ])
  })

  test('no personal data that is allowed', async () => {
    const given = { text, answer: answeredWith(example({ answer: 'The sea gate of the harbour opens at six: jane@skerry.org.' })) }
    expect((await validate(contextOf([given], { privacy: 'allow' }))).examples).toHaveLength(1)
  })
})

describe('validate', () => {
  test('fails where no example is left, naming document, page and reason', async () => {
    const pages = [{ number: 7, start: 0, end: text.length }]
    const failing = validate(contextOf([{ text, pages, answer: answered('no') }, { text, answer: answered('{', 'length') }]))
    await expect(failing).rejects.toThrow(InvalidInputError)
    await expect(failing).rejects.toThrow('no example can be used: d0.md, page 7: invalid_answer: the answer holds no examples')
  })

  test('comes to the same again, and stops when it is to', async () => {
    const given = [sound, { text, answer: answered('no') }, sound]
    const [first, second] = [await validate(contextOf(given)), await validate(contextOf(given))]
    expect(second).toEqual(first)
    expect(first.examples.map(({ document }) => document)).toEqual([0, 2])
    const stopped = { ...contextOf(given), signal: AbortSignal.abort() }
    await expect(validate(stopped)).rejects.toThrow(Interrupted)
  })
})
