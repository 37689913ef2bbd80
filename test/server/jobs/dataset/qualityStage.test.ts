import { describe, expect, test } from 'vitest'
import { InvalidInputError } from '../../../../domain/errors.ts'
import { Interrupted } from '../../../../server/defineJob.ts'
import type { DatasetInput } from '../../../../server/jobs/dataset/datasetInput.ts'
import { quality } from '../../../../server/jobs/dataset/qualityStage.ts'
import { SiftResult } from '../../../../server/jobs/dataset/stageResults.ts'
import { validate } from '../../../../server/jobs/dataset/validateStage.ts'
import { answeredWith, generatedLog, type GivenDocument } from '../../../support/siftedDocuments.ts'
import { stageContext } from '../../../support/stageContext.ts'

const text = 'The sea gate of the harbour opens at six, and lets 1,250 boats through in a year.'

const example = (over: Record<string, unknown> = {}) => ({
  family: 'question_answer',
  question: 'When does the sea gate open?',
  answer: 'The sea gate opens at six.',
  quote: 'opens at six',
  ...over,
})

const document = (...examples: readonly unknown[]): GivenDocument => ({ text, answer: answeredWith(...examples) })

/** A claim of the stage after `validate` has run. */
const validated = async (...given: readonly GivenDocument[]) => {
  const options = { input: { documents: [], licenseFiles: [] }, log: generatedLog(given) }
  options.log.results.set('validate', await validate(stageContext<DatasetInput>('validate', options).context))
  return stageContext<DatasetInput>('quality', options)
}

const sifted = async (...given: readonly GivenDocument[]): Promise<SiftResult> =>
  SiftResult.parse(await quality((await validated(...given)).context))

describe('quality', () => {
  test('keeps a sound example as it is', async () => {
    const { examples, quarantined } = await sifted(document(example()))
    expect(examples).toMatchObject([{ ...example(), id: '0-0-question_answer', document: 0 }])
    expect(quarantined).toEqual([])
  })

  test('leaves out what breaks rules, once, with all of them', async () => {
    const bad = example({ answer: 'According to the passage, the sea gate opens at 7.' })
    const { examples, quarantined } = await sifted(document(bad), document(example()))
    expect(examples.map(({ id }) => id)).toEqual(['1-0-question_answer'])
    expect(quarantined).toMatchObject([
      {
        stage: 'quality',
        reason: 'prompt_leak',
        detail: 'prompt_leak: it speaks of the prompt: "the passage"; unknown_number: not in the source: 7',
        document: 'd0.md',
        sourceSpan: { start: 28, end: 40 },
        example: bad,
      },
    ])
  })

  test('knows the numbers of the headings, and those of no other document', async () => {
    const answer = 'The sea gate of 1902 opens at six.'
    const under = { ...document(example({ answer })), headings: ['Built in 1902'] }
    const { examples, quarantined } = await sifted(under, document(example({ answer })))
    expect(examples.map(({ id }) => id)).toEqual(['0-0-question_answer'])
    expect(quarantined).toMatchObject([{ reason: 'unknown_number', document: 'd1.md' }])
  })

  test('judges each example of a chunk by itself', async () => {
    const families = ['question_answer', 'definition'] as const
    const given = { ...document(example(), example({ family: 'definition', answer: 'A gate.' })), families }
    const { examples, quarantined } = await sifted(given)
    expect(examples.map(({ family }) => family)).toEqual(['question_answer'])
    expect(quarantined).toMatchObject([{ reason: 'answer_too_short' }])
  })

  test('fails where nothing is left, naming the commonest rule and its first document', async () => {
    const given = [
      document(example({ question: 'The gate?' })),
      document(example({ answer: 'The sea gate opens at 7.' })),
      document(example({ answer: 'The sea gate opens at 8.' })),
    ]
    const failing = sifted(...given)
    await expect(failing).rejects.toThrow(InvalidInputError)
    await expect(failing).rejects.toThrow('no example of 3 is good enough: 2 of them for unknown_number, the first of d1.md (unknown_number: not in the source: 7)')
  })

  test('comes to the same again, and stops when it is to', async () => {
    const given = [document(example()), document(example({ answer: 'The gate opens at 7.' }))]
    expect(await sifted(...given)).toEqual(await sifted(...given))
    const { context } = await validated(...given)
    await expect(quality({ ...context, signal: AbortSignal.abort() })).rejects.toThrow(Interrupted)
  })
})
