import { z } from 'zod'

/** Kinds of example a dataset is made of, in the order they are planned. */
export const families = ['question_answer', 'explanation', 'summary', 'definition'] as const

export const Family = z.enum(families)
export type Family = z.infer<typeof Family>
