import { z } from 'zod'
import { Instant, JobSpec, Sha256Hex } from '../../domain/job/events.ts'
import type { SealedEvent } from '../../domain/ports/eventStore.ts'
import { readStrictJson } from '../../domain/strictJson.ts'
import { roles } from '../access.ts'

/** The one stream that says who may come in. */
export const accessStream = 'access'

const TokenId = z.string().regex(/^[0-9a-f]{16}$/, 'must be 16 lower-case hex digits')

/** Words of people that stand in a log line and behind `token:` in an event: nothing there may look like anything else. */
const TokenName = z
  .string()
  .max(100)
  .regex(/^[\p{L}\p{N}][\p{L}\p{N} ._@-]*$/u, 'must begin with a letter or digit, and go on with those, blanks and . _ @ -')
  .refine((name) => !name.startsWith('kno_') && !TokenId.safeParse(name).success, 'must not look like a token or its id')

export const TokenRights = z.strictObject({
  name: TokenName,
  role: z.enum(roles),
  projects: z.array(JobSpec.shape.projectId).min(1).max(1_000).nullable(),
  expiresAt: Instant.nullable(),
})

const accessEventData = {
  /** `hash` is the SHA-256 of the token's whole text, which is stored nowhere. */
  TokenCreated: TokenRights.extend({ id: TokenId, hash: Sha256Hex }),
  TokenRevoked: z.strictObject({ id: TokenId }),
} as const

export type TokenRights = z.infer<typeof TokenRights>

export const accessSchemaVersion = 1

export type AccessFact =
  | { readonly type: 'TokenCreated'; readonly data: z.infer<typeof accessEventData.TokenCreated> }
  | { readonly type: 'TokenRevoked'; readonly data: z.infer<typeof accessEventData.TokenRevoked> }

/** What this program does not know. `id` is that of the token it speaks of, where that much can be read. */
type UnknownFact = { readonly type: 'Unknown'; readonly storedType: string; readonly id: string | null }

/** Reads an event of the stream. Raises where one that should be known breaks its schema. */
export const readAccessEvent = ({ type, schemaVersion, data }: Pick<SealedEvent, 'type' | 'schemaVersion' | 'data'>): AccessFact | UnknownFact => {
  const value = readStrictJson(data)
  if (schemaVersion === accessSchemaVersion) {
    if (type === 'TokenCreated') return { type, data: accessEventData.TokenCreated.parse(value) }
    if (type === 'TokenRevoked') return { type, data: accessEventData.TokenRevoked.parse(value) }
  }
  const spokenOf = z.object({ id: TokenId }).safeParse(value)
  return { type: 'Unknown', storedType: `${type}:${schemaVersion}`, id: spokenOf.data?.id ?? null }
}
