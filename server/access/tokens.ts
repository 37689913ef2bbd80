import type { SealedEvent } from '../../domain/ports/eventStore.ts'
import type { TokenInList } from '../access.ts'
import { readAccessEvent } from './accessEvents.ts'

/** A token as the log tells of it, with the hash that its text is known by. */
export type StoredToken = TokenInList & { readonly hash: string }

/** Every token there ever was, as far as the stream was read. */
export type Tokens = {
  /** In order of creation. */
  readonly byId: ReadonlyMap<string, StoredToken>
  /** Of the last event; -1 before the first. */
  readonly revision: number
  /** Of the last event; null before the first. */
  readonly hash: string | null
  /** Type and version of the first event that this program cannot read: then it writes none itself. */
  readonly unread: string | null
}

export const noTokens: Tokens = { byId: new Map(), revision: -1, hash: null, unread: null }

/**
 * The tokens once these events of the stream have happened; those that were folded already are left out.
 *
 * What cannot be read may have taken a right away, so it ends the token that it speaks of, or all there are where
 * even that cannot be read.
 */
export const foldTokens = (before: Tokens, events: readonly SealedEvent[]): Tokens => {
  const byId = new Map(before.byId)
  let { revision, hash, unread } = before
  const end = (id: string, at: string): void => {
    const token = byId.get(id)
    if (token?.revokedAt === null) byId.set(id, { ...token, revokedAt: at })
  }
  for (const event of events) {
    if (event.revision <= revision) continue
    ;({ revision, hash } = event)
    const fact = readOrUnknown(event)
    if (fact.type === 'TokenCreated') {
      byId.set(fact.data.id, { ...fact.data, createdAt: event.recordedAt, revokedAt: null })
    } else if (fact.type === 'TokenRevoked') {
      end(fact.data.id, event.recordedAt)
    } else {
      unread ??= fact.storedType
      for (const id of fact.id === null ? [...byId.keys()] : [fact.id]) end(id, event.recordedAt)
    }
  }
  return { byId, revision, hash, unread }
}

const readOrUnknown = (event: SealedEvent): ReturnType<typeof readAccessEvent> => {
  try {
    return readAccessEvent(event)
  } catch {
    // To name what is broken is the log's verification.
    return { type: 'Unknown', storedType: `${event.type}:${event.schemaVersion}`, id: null }
  }
}

/** Whether the token lets anybody in at this instant, in milliseconds since 1970 UTC. */
export const isLive = (token: TokenInList, now: number): boolean =>
  token.revokedAt === null && (token.expiresAt === null || now < Date.parse(token.expiresAt))

export const listedOf = ({ hash: _, ...listed }: StoredToken): TokenInList => listed
