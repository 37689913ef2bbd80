import { z } from 'zod'
import { parametersBy } from '../parametersBy.ts'
import { Family, families } from './families.ts'

/** What may be said of a dataset beside its documents, its target and its limits. All of it changes what is made. */
const DatasetParameters = z.strictObject({
  /** Licence of documents that declare none themselves: an SPDX identifier, or a name such as `proprietary`. */
  license: z.string().min(1).max(200).optional(),
  /** What becomes of personal data: the job fails, the passage is left out, or nothing. */
  privacy: z.enum(['block', 'quarantine', 'allow']).default('quarantine'),
  /** Another seed plans other examples and splits otherwise; the same seed gives the same bytes. */
  seed: z.int().nonnegative().default(1),
  /** Tokens a chunk has at most. */
  chunkTokens: z.int().min(64).max(8_000).default(400),
  families: z
    .array(Family)
    .min(1)
    .refine((each) => new Set(each).size === each.length, 'must each be named once')
    .default([...families]),
  /** Share of the documents whose examples are for testing. */
  testShare: z.number().min(0).max(0.9).default(0.1),
  /** The version an earlier run came to: the job fails if it comes to another. */
  expectVersion: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex digits: `version` of a manifest')
    .optional(),
  maxOutputTokens: z.int().positive().optional(),
  temperature: z.number().nonnegative().optional(),
})
export type DatasetParameters = z.infer<typeof DatasetParameters>

/** Raises `InvalidInputError` for a parameter that is not known or breaks its rule. */
export const datasetParameters = parametersBy('dataset', DatasetParameters)
