import type { Family } from './families.ts'
import { isAmong, numbersIn, valuesIn } from './sift/numbersIn.ts'
import { numberWordsIn } from './sift/numberWords.ts'
import { phraseIn, type Phrases, plainWords, pointers, promptLeaks, refusals } from './sift/phrases.ts'
import { shareIn, termsOf } from './sift/terms.ts'

/** What the model was shown, read once for all examples made of it. */
export type Source = {
  readonly units: number
  /** As `plainWords`. */
  readonly words: string
  readonly numbers: ReadonlySet<string>
}

export const sourceOf = (text: string): Source => ({
  units: text.length,
  words: plainWords(text),
  numbers: new Set([...valuesIn(text), ...numberWordsIn(text)]),
})

export type Reviewed = {
  readonly family: Family
  readonly question: string
  readonly answer: string
  readonly source: Source
}

/** Says what is wrong, as a sentence for people, or nothing. */
type Rule = (reviewed: Reviewed) => string | null

/** In letters and digits, by `weightOf`. */
const questionWeightMin = 10
const answerWeightMin: Readonly<Record<Family, number>> = { question_answer: 1, explanation: 15, summary: 15, definition: 15 }

/** In UTF-16 units. */
const questionUnitsMax = 500
const answerUnitsMax = 4_000

/** How much of a question must come back in an answer that has nothing else. */
const repeatedShareMin = 0.7

/** By their names, which are the reasons in `quarantine.jsonl`. */
export const qualityRules: Readonly<Record<string, Rule>> = {
  question_too_short: ({ question }) =>
    weightOf(question) < questionWeightMin ? `the question has fewer than ${questionWeightMin} letters` : null,

  question_too_long: ({ question }) =>
    question.length > questionUnitsMax ? `the question has ${question.length} characters, more than ${questionUnitsMax}` : null,

  answer_too_short: ({ family, answer }) =>
    weightOf(answer) < answerWeightMin[family] ? `the ${family} has fewer than ${answerWeightMin[family]} letters` : null,

  answer_too_long: ({ family, answer, source }) => {
    if (answer.length > answerUnitsMax) return `the answer has ${answer.length} characters, more than ${answerUnitsMax}`
    return family === 'summary' && answer.length > source.units ? 'the summary is longer than what it sums up' : null
  },

  refusal: ({ question, answer, source }) => said('is a refusal', { phrases: refusals, source }, [answer, question]),

  prompt_leak: ({ question, answer, source }) =>
    said('speaks of the prompt', { phrases: promptLeaks, source }, [question, answer]),

  not_self_contained: ({ question, source }) => {
    if (termsOf(question).size === 0) return 'the question does not say what it is about'
    return said('needs the source beside it', { phrases: pointers, source }, [question])
  },

  unknown_number: ({ question, answer, source }) => {
    const unknown = [question, withoutListMarks(answer)]
      .flatMap(numbersIn)
      .filter((number) => !isAmong(number, source.numbers))
      .map(({ text }) => text)
    return unknown.length === 0 ? null : `not in the source: ${[...new Set(unknown)].slice(0, namedMax).join('; ')}`
  },

  question_is_answer: ({ question, answer }) =>
    letters(question) === letters(answer) ? 'the question and the answer are the same' : null,

  repeats_question: ({ question, answer }) => {
    const [asked, told] = [termsOf(question), termsOf(answer)]
    const isNew = told.size === 0 || shareIn(told, asked) < 1 || shareIn(asked, told) < repeatedShareMin
    return isNew ? null : 'the answer says nothing that the question does not'
  },

  unbalanced_fence: ({ question, answer }) =>
    [question, answer].some(hasOpenFence) ? 'a code fence is opened and not closed' : null,
}

const namedMax = 5

const said = (what: string, { phrases, source }: { readonly phrases: Phrases; readonly source: Source }, texts: readonly string[]): string | null => {
  for (const text of texts) {
    const found = phraseIn(phrases, plainWords(text), source.words)
    if (found !== null) return `it ${what}: "${found}"`
  }
  return null
}

/** Letters and digits; one of a script that writes a word in one or two of them counts as three. */
const weightOf = (text: string): number => {
  const dense = text.match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/gu)?.length ?? 0
  return (text.match(/[\p{L}\p{N}]/gu)?.length ?? 0) + 2 * dense
}

const letters = (text: string): string => text.normalize('NFKC').toLowerCase().replace(/[^\p{L}\p{M}\p{N}]+/gu, '')

/** A list that an answer makes of its source is numbered from 1: those numbers are its own. */
const withoutListMarks = (answer: string): string => {
  let next = 1
  return answer.replace(/^([ \t]*)(\d{1,2})([.)][ \t])/gm, (mark, indent: string, number: string) => {
    if (Number(number) !== next) return mark
    next += 1
    return indent
  })
}

const hasOpenFence = (text: string): boolean => {
  let open: string | null = null
  for (const [, fence = ''] of text.matchAll(/^[ \t]*(`{3,}(?=[^`\n]*$)|~{3,})/gm)) {
    if (open === null) open = fence
    else if (fence.startsWith(open)) open = null
  }
  return open !== null
}
