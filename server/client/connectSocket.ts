/** The part of a WebSocket that is used here: that of browsers, and that of the `ws` package. */
export type LiveSocket = {
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  addEventListener(type: 'close', listener: (event: { readonly code: number }) => void): void
  addEventListener(type: 'error', listener: (event: object) => void): void
  close(): void
  /** Where there are such: the server then waits for its reader. */
  pause?(): void
  resume?(): void
  /** Where there is such: for a peer that answers nothing. */
  terminate?(): void
}

/** Opens a socket that offers these subprotocols. */
export type Connect = (url: string, protocols: readonly string[]) => LiveSocket | Promise<LiveSocket>

/** The host's own socket where it has one, as browsers do; else that of `ws`. */
export const connectSocket: Connect = async (url, protocols) => {
  if (typeof globalThis.WebSocket === 'function') return new globalThis.WebSocket(url, [...protocols])
  const { WebSocket } = await import('ws')
  return new WebSocket(url, [...protocols])
}
