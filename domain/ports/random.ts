/** Chance and identity, as the host gives them. */
export interface Random {
  /** A number in [0, 1). */
  luck(): number
  /** An id that nobody else draws. */
  id(): string
}
