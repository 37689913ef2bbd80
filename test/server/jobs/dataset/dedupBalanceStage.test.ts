import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InvalidInputError } from '../../../../domain/errors.ts'
import { Interrupted } from '../../../../server/defineJob.ts'
import type { DatasetInput } from '../../../../server/jobs/dataset/datasetInput.ts'
import { dedupBalance } from '../../../../server/jobs/dataset/dedupBalanceStage.ts'
import { families, type Family } from '../../../../server/jobs/dataset/families.ts'
import { hashOf } from '../../../../server/jobs/dataset/hash.ts'
import { type Example, SiftResult } from '../../../../server/jobs/dataset/stageResults.ts'
import { callId, generatedLog } from '../../../support/siftedDocuments.ts'
import { stageContext } from '../../../support/stageContext.ts'

const seed = 20_261_201
const documentCount = 3

type Given = Partial<Pick<Example, 'document' | 'family' | 'question' | 'answer'>>

/** The nth example of the plan. Without more said, it repeats no other. */
const exampleOf = (given: Given, nth: number): Example => {
  const { document = 0, family = 'summary' } = given
  const own = Array.from({ length: 8 }, (_, word) => `${word}w${nth}`).join(' ')
  return {
    id: `${document}-${nth}-${family}`,
    document,
    family,
    question: `What of ${own}?`,
    answer: `It is ${own}.`,
    quote: 'A text',
    sourceSpan: { source: hashOf(`original ${document}`), text: hashOf(`text ${document}`), start: nth, end: nth + 6 },
    callId,
    ...given,
  }
}

const claimOf = (examples: readonly Example[], parameters = {}) => {
  const log = generatedLog(Array.from({ length: documentCount }, (_, nth) => ({ text: `A text ${nth}` })))
  log.results.set('quality', { examples, quarantined: [] })
  return stageContext<DatasetInput>('dedup_balance', { input: { documents: [], licenseFiles: [] }, log, parameters })
}

const siftedOf = async (examples: readonly Example[], parameters = {}): Promise<SiftResult> =>
  SiftResult.parse(await dedupBalance(claimOf(examples, parameters).context))

const sifted = (...given: readonly Given[]): Promise<SiftResult> => siftedOf(given.map(exampleOf))

const words = 'the sea gate of the harbour opens at six each morning and lets the boats through until the tide has turned again'

describe('dedup_balance', () => {
  test('keeps what repeats nothing, as it is and in the order of the plan', async () => {
    const examples = [exampleOf({}, 0), exampleOf({ document: 2 }, 1), exampleOf({ document: 1 }, 2)]
    expect(await siftedOf(examples)).toEqual({ examples, quarantined: [] })
  })

  test.each([
    ['in other letters', 'WHEN does the Sea Gate open?', 'AT six.'],
    ['with other spaces', ' When does  the\u00a0sea gate open?', 'At\nsix.'],
    ['with other punctuation', '“When does the sea gate open”', 'at six'],
    ['composed otherwise', 'When does the sea gate open?', '\uff21t s\u00adix.'],
  ])('leaves out a later example that says the same %s', async (_, question, answer) => {
    const first = { question: 'When does the sea gate open?', answer: 'At six.' }
    const { examples, quarantined } = await sifted(first, {}, { document: 1, family: 'definition', question, answer })
    expect(examples.map(({ id }) => id)).toEqual(['0-0-summary', '0-1-summary'])
    expect(quarantined).toEqual([
      {
        stage: 'dedup_balance',
        reason: 'duplicate',
        detail: 'it says the same as 0-0-summary',
        document: 'd1.md',
        sourceSpan: exampleOf({ document: 1 }, 2).sourceSpan,
        example: { family: 'definition', question, answer, quote: 'A text', callId },
      },
    ])
  })

  test.each([
    ['another answer to the same question', { question: 'When?', answer: 'At six.' }, { question: 'When?', answer: 'At noon.' }],
    ['another number', { question: 'How many?', answer: '1.5' }, { question: 'How many?', answer: '15' }],
    ['another sign', { question: 'What is C?', answer: 'x < y' }, { question: 'What is C?', answer: 'x > y' }],
    ['another accent', { question: 'Qui?', answer: 'pêche' }, { question: 'Qui?', answer: 'péché' }],
    [
      'one answer to another question of another family',
      { question: 'When does it open?', answer: words },
      { family: 'definition' as const, question: 'What is the sea gate?', answer: words },
    ],
  ])('keeps %s', async (_, first, second) => {
    expect((await sifted(first, second)).quarantined).toEqual([])
  })

  test('leaves out a later example that says nearly the same, with how much is', async () => {
    const near = `${words} today`
    const { examples, quarantined } = await sifted({ answer: words, question: 'When?' }, { answer: near, question: 'When?', document: 2 })
    expect(examples.map(({ id }) => id)).toEqual(['0-0-summary'])
    expect(quarantined).toMatchObject([
      { reason: 'near_duplicate', detail: 'it is 95 % the same as 0-0-summary', document: 'd2.md', example: { answer: near } },
    ])
  })

  test('leaves out what a family has over its share of those that repeat nothing', async () => {
    const same = { question: 'When does it open?', answer: 'At six.' }
    const given: readonly Given[] = [
      ...Array.from({ length: 11 }, () => ({})),
      ...Array.from({ length: 5 }, () => ({ ...same, family: 'definition' as const })),
      { family: 'definition' },
    ]
    const { examples, quarantined } = await sifted(...given)
    expect(examples.map(({ family }) => family)).toEqual([...Array<string>(9).fill('summary'), 'definition', 'definition'])
    const reasons = [...Array<string>(4).fill('duplicate'), ...Array<string>(2).fill('family_surplus')]
    expect(quarantined.map(({ reason }) => reason)).toEqual(reasons)
    expect(quarantined.at(-1)?.detail).toBe('examples of summary are more than 1.5 times as many as if each family had the same')
  })

  test('leaves out others with another seed, and the same with the same', async () => {
    const examples = Array.from({ length: 30 }, (_, nth) => exampleOf({ family: nth < 25 ? 'summary' : 'definition' }, nth))
    const kept = async (given: number) => (await siftedOf(examples, { seed: given })).examples
    expect(await kept(5)).toEqual(await kept(5))
    expect(await kept(5)).not.toEqual(await kept(6))
  })

  test('fails where more than nine in ten of twenty examples or more repeat another, naming the documents', async () => {
    const same = { question: 'When does it open?', answer: 'At six.' }
    const repeating = (count: number, others: number): readonly Given[] => [
      ...Array.from({ length: count }, (_, nth) => ({ ...same, document: nth % 3 === 1 ? 1 : 2 })),
      ...Array.from({ length: others }, () => ({})),
    ]
    await expect(sifted(...repeating(20, 0))).rejects.toThrow(InvalidInputError)
    await expect(sifted(...repeating(20, 0))).rejects.toThrow(
      '19 of 20 examples repeat another, most because d2.md repeats itself: leave out documents that say the same',
    )
    const copied = repeating(20, 1).map((each, nth) => (nth === 0 ? { ...each, document: 0 } : { ...each, document: 1 }))
    await expect(sifted(...copied)).rejects.toThrow('19 of 21 examples repeat another, most because d1.md repeats d0.md')
    expect((await sifted(...repeating(19, 1))).examples).toHaveLength(2)
    expect((await sifted(...repeating(19, 0))).examples).toHaveLength(1)
  })

  test('stops when it is to', async () => {
    const { context } = claimOf([exampleOf({}, 0)])
    await expect(dedupBalance({ ...context, signal: AbortSignal.abort() })).rejects.toThrow(Interrupted)
  })

  test(`leaves out no more the second time, loses nothing, and leaves no two that are alike (seed ${seed})`, async () => {
    const word = fc.integer({ min: 0, max: 400 }).map((nth) => `w${nth}`)
    const sentence = fc.array(word, { minLength: 12, maxLength: 30 })
    // Of five sentences, with a word more or another one now and then.
    const drafts = fc.array(sentence, { minLength: 5, maxLength: 5 }).chain((sentences) =>
      fc.array(
        fc.record({
          sentence: fc.constantFrom(...sentences),
          change: fc.option(fc.tuple(fc.nat(29), word)),
          family: fc.constantFrom<Family>(...families),
          document: fc.nat(documentCount - 1),
        }),
        { minLength: 1, maxLength: 19 },
      ),
    )
    await fc.assert(
      fc.asyncProperty(drafts, async (given) => {
        const examples = given.map(({ sentence: base, change, family, document }, nth) => {
          const answer = change === null ? base : base.with(Math.min(change[0], base.length - 1), change[1])
          return exampleOf({ family, document, question: 'What is it?', answer: answer.join(' ') }, nth)
        })
        const first = await siftedOf(examples)
        const ids = new Set(first.examples.map(({ id }) => id))
        expect(first.examples).toEqual(examples.filter(({ id }) => ids.has(id)))
        expect(first.examples.length + first.quarantined.length).toBe(examples.length)
        for (const [nth, one] of first.examples.entries()) {
          for (const other of first.examples.slice(nth + 1)) expect(similarity(one, other)).toBeLessThan(0.8)
        }
        expect(await siftedOf(first.examples)).toEqual({ examples: first.examples, quarantined: [] })
      }),
      { seed, numRuns: 60 },
    )
  })
})

const similarity = (one: Example, other: Example): number => {
  const [ones, others] = [one, other].map(({ question, answer }) => {
    const all = `${question.replace('?', '')} ${answer}`.toLowerCase().split(' ')
    return new Set(all.slice(2).map((_, nth) => all.slice(nth, nth + 3).join(' ')))
  }) as [Set<string>, Set<string>]
  const shared = [...ones].filter((each) => others.has(each)).length
  return shared / (ones.size + others.size - shared)
}
