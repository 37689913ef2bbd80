/** Where text goes. */
export type TextOut = {
  readonly isTerminal: boolean
  /** Width of the terminal, in characters. */
  readonly columns: number
  /** Its height, in lines. */
  readonly rows: number
  /**
   * Resolves when the text has been taken. Answers false when the reader has gone away (`… | head -1`): nothing
   * more will be read, which is no error. Raises `StoreUnavailable` when it cannot be written (disk full).
   */
  write(text: string): Promise<boolean>
}

/** Room for a table: what is not shown to a person is not made to fit. */
export const tableWidth = (out: TextOut): number => (out.isTerminal ? out.columns : Infinity)

/** The process as the command line sees it, so that tests can stand in for it. */
export type Shell = {
  /** How this program was called, as words that can be pasted. */
  readonly program: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdout: TextOut
  readonly stderr: TextOut
  /** Calls the listener on SIGINT and SIGTERM until the answer is called. */
  onSignal(listener: () => void): () => void
  /** Ends the process now, whatever is open. */
  exitNow(code: number): void
}
