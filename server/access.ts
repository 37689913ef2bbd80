/** What a token lets its holder do: look; also submit and steer; also change tokens and rebuild. Each includes the one before. */
export const roles = ['read', 'operate', 'admin'] as const
export type Role = (typeof roles)[number]

/** Who somebody is to the server, once a token has been checked. */
export type Grant = {
  /** Name of the token, for the log and for `actor`. Never the token itself. */
  readonly name: string
  readonly role: Role
  /** The projects it is for; null: all of them. */
  readonly projects: readonly string[] | null
}

/** A token as it is listed: what is stored of it is a hash. */
export type TokenInList = Grant & {
  readonly id: string
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly revokedAt: string | null
}

/** Who may come in. One stream of the log holds the tokens, so a revocation reaches every server. */
export interface Access {
  /** False where no token was ever made: then a server is for this machine alone. */
  isRequired(): Promise<boolean>
  /** The grant of a token, or null for one that is unknown, expired or revoked. Takes the same time for each. */
  check(token: string): Promise<Grant | null>
  /**
   * Aborts as soon as the token is revoked or has expired, so that whoever is connected with it can be sent away. To be
   * asked once `check` has let the token in; of any other it has aborted already.
   */
  until(token: string): AbortSignal
  /** `token` is the text, told this once. Raises `InvalidInputError` (`token_name_taken` for a name that is in use). */
  create(wanted: { name: string; role: Role; projects: readonly string[] | null; expiresAt: string | null }): Promise<{ token: string; listed: TokenInList }>
  list(): Promise<readonly TokenInList[]>
  /** By id or name, and again without effect. Raises `InvalidInputError` (`token_not_found`). */
  revoke(handle: string): Promise<TokenInList>
}
