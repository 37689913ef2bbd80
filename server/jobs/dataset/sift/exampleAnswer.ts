import { z } from 'zod'
import { Family } from '../families.ts'

/** In UTF-16 units: what is longer is no question, and no answer to learn from. */
const questionUnitsMax = 2_000
const answerUnitsMax = 8_000

const words = (name: string, unitsMax: number) =>
  z
    .string(`its ${name} is not a string`)
    .trim()
    .refine((text) => /[\p{L}\p{N}]/u.test(text), `its ${name} has no word`)
    .refine((text) => text.length <= unitsMax, `its ${name} is longer than ${unitsMax} characters`)
    // Such text cannot be stored as it is.
    .refine((text) => !/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\p{Surrogate}/u.test(text), `its ${name} has control characters or half ones`)

/** An example as the model is to answer it. Its issues are sentences for people. */
export const ExampleAnswer = z.strictObject(
  {
    family: Family,
    question: words('question', questionUnitsMax),
    answer: words('answer', answerUnitsMax),
    quote: words('quote', answerUnitsMax),
  },
  { error: (issue) => (issue.code === 'unrecognized_keys' ? 'it has fields that were not asked for' : undefined) },
)
export type ExampleAnswer = z.infer<typeof ExampleAnswer>
