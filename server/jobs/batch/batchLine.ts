import { z } from 'zod'
import { InvalidInputError } from '../../../domain/errors.ts'
import { nearest } from '../../../domain/nearest.ts'
import type { Message } from '../../../domain/ports/provider.ts'
import { readStrictJson } from '../../../domain/strictJson.ts'
import { wrongLine, type Place } from './batchPlace.ts'
import { isShallow, nestingMax } from './nesting.ts'

/** One line of a batch: one question to the provider. */
export type BatchLine = {
  readonly id: string
  readonly messages: readonly Message[]
  readonly model?: string | undefined
  readonly maxOutputTokens?: number | undefined
  readonly temperature?: number | undefined
  readonly seed?: number | undefined
  /** Given back with the answer; never sent. */
  readonly metadata?: JsonObject | undefined
  readonly place: Place
}

type JsonObject = Readonly<Record<string, unknown>>

const must = (rule: string) => ({
  error: ({ input }: { readonly input?: unknown }) => (input === undefined ? 'is missing' : rule),
})
const text = (rule = 'must be a string') => z.string(must(rule)).min(1, 'must not be empty')

const LineMessage = z.strictObject(
  {
    role: z.enum(['system', 'user', 'assistant'], must('must be "system", "user" or "assistant"')),
    content: z.string(must('must be a string')),
  },
  must('must be an object { role, content }'),
)

// Kept as it was parsed, never copied: a copy may lose keys that mean something to JavaScript.
const Metadata = z
  .custom<JsonObject>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    must('must be an object'),
  )
  .refine(isShallow, `must not be nested deeper than ${nestingMax} levels`)

/** What may be set for a line, and for all lines of a job that do not set it themselves. */
export const callParameters = {
  maxOutputTokens: z.int(must('must be a whole number of tokens')).positive('must be at least 1').optional(),
  temperature: z.number(must('must be a number')).nonnegative('must not be negative').optional(),
  seed: z.int(must('must be a whole number')).optional(),
}

const LineFields = z.strictObject(
  {
    // Strings alone: "7" and 7 would be two ids to one reader of the results and one to another.
    id: text('must be a string: write a number as "7"').max(200, 'must not be longer than 200 characters'),
    prompt: text().optional(),
    messages: z.array(LineMessage, must('must be a list of { role, content }')).min(1, 'must not be empty').optional(),
    system: text().optional(),
    model: text().max(200, 'must not be longer than 200 characters').optional(),
    ...callParameters,
    metadata: Metadata.optional(),
  },
  must('must be a JSON object'),
)

/** Reads one line. Raises `InvalidInputError` naming file, line and the place in the line. */
export const readBatchLine = (json: string, place: Place): BatchLine => {
  const parsed = LineFields.safeParse(strictJson(json, place))
  if (!parsed.success) throw brokenRule(parsed.error.issues, place)
  const { prompt, messages, system, ...rest } = parsed.data
  if ((prompt === undefined) === (messages === undefined)) {
    const found = prompt === undefined ? 'neither is given' : 'both are given'
    throw wrongLine(place, `exactly one of "prompt" and "messages" is needed: ${found}`)
  }
  if (system !== undefined && messages?.some(({ role }) => role === 'system')) {
    throw wrongLine(place, '"system" is given twice: as a field and among "messages"', { path: '$.system' })
  }
  const asked: readonly Message[] = messages ?? [{ role: 'user', content: prompt ?? '' }]
  return { ...rest, messages: system === undefined ? asked : [{ role: 'system', content: system }, ...asked], place }
}

const strictJson = (json: string, place: Place): unknown => {
  try {
    return readStrictJson(json)
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error
    throw wrongLine(place, error.message, error.details)
  }
}

const brokenRule = (issues: readonly z.core.$ZodIssue[], place: Place): InvalidInputError => {
  // A misspelt field is also a missing one: its own name tells more.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]
  const path = (issue?.path ?? []).map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')
  const whole = path === '' ? 'the line' : path.replace(/^\./, '')
  if (issue?.code !== 'unrecognized_keys') {
    return wrongLine(place, `${whole} ${issue?.message ?? 'is not valid'}`, { path: `$${path}` })
  }
  const [field = ''] = issue.keys
  const fields = Object.keys(path === '' ? LineFields.shape : LineMessage.shape)
  const meant = nearest(field, fields)
  const hint = meant === null ? `known are ${fields.join(', ')}` : `did you mean "${meant}"?`
  const problem = `${whole} has an unknown field ${JSON.stringify(field)}: ${hint}`
  return wrongLine(place, problem, { path: `$${path}.${field}` })
}
