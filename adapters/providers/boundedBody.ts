/**
 * The body as text, and whether it is whole: reading ends, and the connection with it, once `bytesMax` is passed
 * (counted after decompression). Rejects when the connection breaks.
 */
export const boundedBody = async (response: Response, bytesMax: number): Promise<{ text: string; whole: boolean }> => {
  if (response.body === null) return { text: '', whole: true }
  const body: AsyncIterable<Uint8Array> = response.body
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    // Leaving the loop cancels the stream.
    if (bytes > bytesMax)
      return { text: textOf([...chunks, chunk.subarray(0, chunk.byteLength - (bytes - bytesMax))]), whole: false }
    chunks.push(chunk)
  }
  return { text: textOf(chunks), whole: true }
}

const textOf = (chunks: readonly Uint8Array[]): string => new TextDecoder().decode(Buffer.concat(chunks))
