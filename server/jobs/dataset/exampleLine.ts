import { canonical } from '../../../domain/canonical.ts'
import { hashOf } from './hash.ts'
import type { Example, ParsedDocument } from './stageResults.ts'

const messagesOf = ({ question, answer }: Example) => [
  { role: 'user', content: question },
  { role: 'assistant', content: answer },
]

/** What an example is known by: SHA-256 of the RFC 8785 form of its `messages`. */
export const contentHashOf = (example: Example): string => hashOf(canonical(messagesOf(example)))

/** One line of `train.jsonl` or `test.jsonl`. */
export const exampleLine = (example: Example, { name, license }: ParsedDocument): string => {
  const { id, family, sourceSpan, quote, callId } = example
  const line = {
    id,
    messages: messagesOf(example),
    family,
    document: name,
    license,
    sourceSpan,
    quote,
    contentHash: contentHashOf(example),
    callId,
  }
  return `${JSON.stringify(line)}\n`
}
