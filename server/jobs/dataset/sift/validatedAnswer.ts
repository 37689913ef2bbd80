import { z } from 'zod'
import { answeredExamples } from '../answeredExamples.ts'
import type { TextRange } from '../chunks/textRange.ts'
import type { DocumentText } from '../documentTexts.ts'
import type { Family } from '../families.ts'
import { groundedQuote } from '../groundedQuote.ts'
import { pageAt } from '../parsedText.ts'
import type { ChunkAnswer, Example, PlannedChunk, Quarantined, SourceSpan } from '../stageResults.ts'
import { chunkSource } from './chunkSource.ts'
import { ExampleAnswer } from './exampleAnswer.ts'
import { shareIn, termsOf } from './terms.ts'

/**
 * How much of what an answer speaks of must be in its chunk, by `termsOf`. An answer in words of its own shares most
 * of its nouns with its source; one from elsewhere, or in another language, hardly any.
 */
const groundedShareMin = 0.5

type Asked = {
  readonly planned: PlannedChunk
  readonly answer: ChunkAnswer
  readonly source: DocumentText
  /** Whether a text holds personal data that is to be left out. */
  readonly isPersonal: (text: string) => boolean
}

type Validated = { readonly examples: readonly Example[]; readonly quarantined: readonly Quarantined[] }

type Problem = Pick<Quarantined, 'reason' | 'detail' | 'example'> & { readonly span?: SourceSpan }

/** The examples of one chunk that are as they were asked for and stand in their source; all else with the rule it broke. */
export const validatedAnswer = (asked: Asked): Validated => {
  const { answer, source } = asked
  const out = (stage: Quarantined['stage'], { span, ...problem }: Problem): Quarantined => ({
    stage,
    ...problem,
    document: source.document.name,
    sourceSpan: span ?? spanOf(source, asked.planned.chunk),
  })
  if ('error' in answer) {
    const { code, message } = answer.error
    return { examples: [], quarantined: [out('generate', { reason: code, detail: message })] }
  }
  const raw = answeredExamples(answer.text)
  if (raw.length === 0) return { examples: [], quarantined: [out('validate', withoutExamples(answer.finishReason))] }
  const { wanted, problems } = sorted(asked.planned.families, raw)
  const examples: Example[] = []
  const shown = termsOf(chunkSource(asked.planned.chunk, source.text))
  for (const each of wanted) {
    const made = exampleOf({ ...asked, shown, callId: answer.callId }, each)
    if ('reason' in made) problems.push(made)
    else examples.push(made)
  }
  return { examples, quarantined: problems.map((problem) => out('validate', problem)) }
}

const withoutExamples = (finishReason: string | null): Problem =>
  finishReason === 'length'
    ? { reason: 'answer_cut', detail: 'the answer ended at its limit of output tokens (maxOutputTokens), before its JSON did' }
    : { reason: 'invalid_answer', detail: 'the answer holds no examples as the JSON that was asked for' }

const OfFamily = z.looseObject({ family: z.string() })

/** One of each family, in the order of the plan, and what is wrong with the rest. */
const sorted = (families: readonly Family[], raw: readonly unknown[]): { wanted: readonly ExampleAnswer[]; problems: Problem[] } => {
  const byFamily = new Map<string, unknown>()
  let others = 0
  for (const each of raw) {
    const named = OfFamily.safeParse(each)
    const isWanted = named.success && families.some((family) => family === named.data.family) && !byFamily.has(named.data.family)
    if (isWanted) byFamily.set(named.data.family, each)
    else others += 1
  }
  const wanted: ExampleAnswer[] = []
  const problems: Problem[] = []
  for (const family of families) {
    const read = ExampleAnswer.safeParse(byFamily.get(family))
    if (read.success) wanted.push(read.data)
    else if (byFamily.has(family)) problems.push({ reason: 'invalid_answer', detail: `the ${family}: ${issuesOf(read.error)}` })
    else problems.push({ reason: 'missing_example', detail: `the answer has no ${family}` })
  }
  const detail = `examples in the answer beyond those asked for, or of a family asked for once: ${others} of ${raw.length}`
  if (others > 0) problems.push({ reason: 'not_planned', detail })
  return { wanted, problems }
}

const issuesOf = (error: z.ZodError): string => [...new Set(error.issues.map(({ message }) => message))].join('; ')

type Shown = Asked & { readonly shown: ReadonlySet<string>; readonly callId: string }

const exampleOf = ({ planned: { chunk }, source, isPersonal, shown, callId }: Shown, answered: ExampleAnswer): Example | Problem => {
  const { family, question, answer } = answered
  const found = groundedQuote(source.text, chunk, answered.quote)
  const quote = found === null ? answered.quote : source.text.slice(found.start, found.end)
  const example = { family, question, answer, quote, callId }
  // What is personal is not to be told again. Each by itself: together they may look like what neither is.
  if ([question, answer, quote].some(isPersonal)) {
    return { reason: 'personal_data', detail: `the ${family} has personal data, or stands on text that is masked for it` }
  }
  if (found === null) {
    return { reason: 'quote_not_found', detail: `the quote of the ${family} is not in its chunk`, example }
  }
  const sourceSpan = spanOf(source, found)
  const share = shareIn(termsOf(answer), shown)
  if (share < groundedShareMin) {
    const percent = Math.floor(share * 100)
    const detail = `${percent} % of what the answer of the ${family} speaks of is in its chunk, less than ${groundedShareMin * 100} %`
    return { reason: 'not_grounded', detail, example, span: sourceSpan }
  }
  return { id: `${chunk.id}-${family}`, document: chunk.document, ...example, sourceSpan }
}

const spanOf = ({ document, textRef, structure }: DocumentText, { start, end }: TextRange): SourceSpan => {
  const page = pageAt(structure.pages, start)
  return { source: document.source, text: textRef.sha256, start, end, ...(page === undefined ? {} : { page }) }
}
