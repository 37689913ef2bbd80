/** Names stored bytes by what they are. */
export type ArtifactName = { readonly sha256: string; readonly bytes: number }

/**
 * Content-addressed bytes, one room a project: one project's hash is unknown in another.
 * Every adapter passes `test/contract/artifactStoreContract.ts`. Any verb may raise `StoreUnavailable`.
 */
export interface ArtifactStore {
  /** Stored and durable when this resolves. Putting the same bytes again is a success. */
  put(projectId: string, content: Uint8Array): Promise<ArtifactName>
  /**
   * The bytes, checked against their hash, or null when the store knows none by that name.
   * Raises `ArtifactCorrupt` when what is stored is something else; the damaged file is kept aside.
   */
  get(projectId: string, sha256: string): Promise<Uint8Array | null>
  has(projectId: string, sha256: string): Promise<boolean>
  /** Names in order of hash, behind the hash `after`. At most `limit` (default 1 000). */
  list(projectId: string, page?: { after?: string; limit?: number }): Promise<readonly ArtifactName[]>
}
