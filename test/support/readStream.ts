export type ServerSent = { readonly event: string; readonly id: string; readonly data: string }

/** Server-sent events of one connection, until it is lost. Half an event at its end counts for nothing. */
export async function* readStream(
  url: string,
  options: { readonly signal?: AbortSignal; readonly lastEventId?: string | undefined; readonly token?: string } = {},
): AsyncGenerator<ServerSent> {
  const { signal, lastEventId, token } = options
  try {
    const response = await fetch(url, {
      ...(signal === undefined ? {} : { signal }),
      headers: {
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
    })
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body!) {
      text += decoder.decode(chunk as Uint8Array, { stream: true })
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const fields = new Map(text.slice(0, end).split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)] as const))
        text = text.slice(end + 2)
        const data = fields.get('data')
        if (data !== undefined) yield { event: fields.get('event') ?? '', id: fields.get('id') ?? '', data }
      }
    }
  } catch (error) {
    if (!(error instanceof Error) || !/terminated|aborted|fetch failed|other side closed/.test(error.message)) throw error
  }
}
