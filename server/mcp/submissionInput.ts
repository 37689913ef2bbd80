import { z } from 'zod'
import { InvalidInputError } from '../../domain/errors.ts'
import { listOf } from '../client/schemas/listOf.ts'
import { limitsSchema, submissionSchema } from '../client/schemas/submissionSchema.ts'
import type { Submission } from '../engine.ts'

const promptsMax = 1_000

const message = z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string() })

const prompt = z.strictObject({
  id: z.string().min(1).max(200).describe('Names the answer; each once'),
  prompt: z.string().min(1).describe('What is asked: this, or messages').exactOptional(),
  messages: listOf(message).exactOptional(),
  system: z.string().min(1).exactOptional(),
  model: z.string().min(1).max(200).describe('Default: the model of the job').exactOptional(),
  maxOutputTokens: z.int().positive().exactOptional(),
  temperature: z.number().nonnegative().exactOptional(),
  seed: z.int().exactOptional(),
  metadata: z.record(z.string(), z.unknown()).describe('Given back with the answer; never sent').exactOptional(),
})

const file = z.strictObject({ name: submissionSchema.shape.files.unwrap().element.shape.name, text: z.string() })

const of = submissionSchema.shape

/** What a job is to be, as an agent says it: a provider by its name alone, and no file but what is given here. */
export const submissionInput = z.strictObject({
  type: of.type.describe('"batch": prompts to one provider; "dataset": training examples from documents; or a type of this server'),
  projectId: of.projectId.describe('Default "default"'),
  prompts: z.array(prompt).min(1).max(promptsMax).describe('For "batch": what is asked, one call each').exactOptional(),
  files: z.array(file).min(1).max(1_000).describe('For "dataset": documents as text, such as notes.md').exactOptional(),
  input: of.input.describe('For job types that take a value'),
  provider: z.string().min(1).max(200).describe('Name of a provider that is configured on the server; "offline" needs no key and costs nothing').exactOptional(),
  model: z.string().min(1).max(200).exactOptional(),
  target: of.target.describe('For "dataset": how many examples are wanted'),
  parameters: of.parameters.describe('Of the job type, such as { "maxOutputTokens": 500 }'),
  limits: limitsSchema.describe('The most the job may take, each a total; maximumCostUsd is text such as "2.50"').exactOptional(),
  priceProfiles: of.priceProfiles.describe('Prices of models in US dollars per million tokens, for models that the server knows no price of'),
  allowUnpriced: of.allowUnpriced.describe('Models that may be used without a price: their cost goes uncounted'),
  idempotencyKey: of.idempotencyKey.describe('Names this job: submitting again with the same key and content answers with the job that is there'),
  concurrency: of.concurrency.describe('Calls at one time'),
  priority: of.priority.describe('Higher is worked first; default 0'),
  labels: of.labels,
})

/** Raises `InvalidInputError` where prompts are given to a job that is no batch, or beside files. */
export const submissionOf = (input: z.output<typeof submissionInput>): Submission => {
  const { prompts, files, provider, ...rest } = input
  if (prompts !== undefined && (rest.type !== 'batch' || files !== undefined)) {
    throw new InvalidInputError(`arguments: "prompts" are for type "batch" alone, and not beside "files"`, { in: 'arguments', field: 'prompts' })
  }
  const given = prompts === undefined ? files : [{ name: 'prompts', text: prompts.map((line) => `${JSON.stringify(line)}\n`).join('') }]
  return {
    ...rest,
    ...(provider === undefined ? {} : { provider: { name: provider } }),
    ...(given === undefined ? {} : { files: given.map(({ name, text }) => ({ name, content: new TextEncoder().encode(text) })) }),
  }
}
