import { InvalidInputError } from '../../domain/errors.ts'
import { nearest } from '../../domain/nearest.ts'
import { preview } from '../../domain/strictJson.ts'
import type { Access, Grant } from '../access.ts'
import { TokenRights } from './accessEvents.ts'
import { followedTokens, type TokenFollowing } from './followedTokens.ts'
import { isLive, listedOf, type StoredToken, type Tokens } from './tokens.ts'
import { readTokens, recordToken } from './tokenStream.ts'
import { idOfTokenText, isTokenOf, newTokenText } from './tokenText.ts'

/** Who may come in, by the tokens of this log. Nothing is read before the first question. */
export const tokenAccess = (deps: TokenFollowing): Access & { close(): Promise<void> } => {
  const { clock, sha256, events } = deps
  const followed = followedTokens(deps)

  const tokenOf = (text: string): StoredToken | null => {
    const stored = followed.now().byId.get(idOfTokenText(text) ?? '')
    const isTheirs = isTokenOf(stored?.hash, text, sha256)
    return stored !== undefined && isTheirs && isLive(stored, clock.now()) ? stored : null
  }

  return {
    async isRequired() {
      await followed.ready()
      // Also where this program cannot read what was made.
      return followed.now().revision >= 0
    },
    async check(text) {
      await followed.ready()
      const token = tokenOf(text)
      return token === null ? null : grantOf(token)
    },
    until(text) {
      const token = tokenOf(text)
      return token === null ? AbortSignal.abort('unknown') : followed.until(token)
    },
    async create(wanted) {
      const rights = checkedRights(wanted, clock.now())
      const { id, text } = newTokenText()
      const tokens = await recordToken(deps, (known) => {
        refuseTakenName(known, rights.name, clock.now())
        return { type: 'TokenCreated', data: { ...rights, id, hash: sha256(text) } }
      })
      followed.adopt(tokens)
      return { token: text, listed: listedOf(storedOf(tokens, id)) }
    },
    list: async () => [...(await readTokens(events)).byId.values()].map(listedOf),
    async revoke(handle) {
      let id = ''
      const tokens = await recordToken(deps, (known) => {
        const token = named(known, handle, clock.now())
        id = token.id
        return token.revokedAt === null ? { type: 'TokenRevoked', data: { id } } : null
      })
      followed.adopt(tokens)
      return listedOf(storedOf(tokens, id))
    },
    close: () => followed.close(),
  }
}

const grantOf = ({ name, role, projects }: StoredToken): Grant => ({ name, role, projects })

const checkedRights = (wanted: Parameters<Access['create']>[0], now: number): TokenRights => {
  const { projects, ...rest } = wanted
  const checked = TokenRights.safeParse({ ...rest, projects: projects === null ? null : [...new Set(projects)] })
  if (!checked.success) {
    const [issue] = checked.error.issues
    const path = issue?.path.map(String).join('.') ?? ''
    throw new InvalidInputError(`the token's ${path}: ${issue?.message ?? 'is not valid'}`, { path })
  }
  const { expiresAt } = checked.data
  if (expiresAt !== null && Date.parse(expiresAt) <= now) {
    throw new InvalidInputError(`the token's expiresAt ${expiresAt} has passed already`, { path: 'expiresAt', expiresAt })
  }
  return checked.data
}

/** A name says who did something, so no two who can come in have the same. */
const refuseTakenName = (tokens: Tokens, name: string, now: number): void => {
  const taken = [...tokens.byId.values()].find((token) => token.name === name && isLive(token, now))
  if (taken === undefined) return
  throw new InvalidInputError(`there is a token "${name}" already (${taken.id}): revoke it, or choose another name`, { name, id: taken.id }, 'token_name_taken')
}

/** By id, by name (of several the one that lets somebody in, else the newest), or by the token's own text. */
const named = (tokens: Tokens, handle: string, now: number): StoredToken => {
  const byId = tokens.byId.get(idOfTokenText(handle) ?? handle)
  if (byId !== undefined) return byId
  const all = [...tokens.byId.values()]
  const alike = all.filter(({ name }) => name === handle)
  const found = alike.findLast((token) => isLive(token, now)) ?? alike.findLast((token) => token.revokedAt === null) ?? alike.at(-1)
  if (found !== undefined) return found
  // What may be the text of a token, whole or in part, is not repeated.
  const shown = handle.startsWith('kno_') ? 'like that' : JSON.stringify(preview(handle, 100))
  const close = nearest(handle, all.flatMap(({ id, name }) => [name, id]))
  throw new InvalidInputError(
    `there is no token ${shown}${close === null ? '' : `: did you mean ${JSON.stringify(close)}?`}`,
    { nearest: close },
    'token_not_found',
  )
}

const storedOf = (tokens: Tokens, id: string): StoredToken => {
  const token = tokens.byId.get(id)
  if (token === undefined) throw new Error(`token ${id} was recorded, and is not in its stream`)
  return token
}
