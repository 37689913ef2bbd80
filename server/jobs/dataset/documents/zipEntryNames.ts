const endOfDirectory = Buffer.from('PK\u0005\u0006', 'latin1')
const directoryEntry = 0x02_01_4b_50
/** The record at the end, with a comment of the longest length. */
const endBytesMax = 22 + 65_535

/**
 * The names in a zip's central directory, as far as it can be read: none where it is missing. Enough to tell what a
 * zip is for; whether it is sound is for who opens it.
 */
export function* zipEntryNames(content: Uint8Array): Generator<string> {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  const end = bytes.lastIndexOf(endOfDirectory)
  if (end === -1 || end < bytes.length - endBytesMax || end + 22 > bytes.length) return
  let at = bytes.readUInt32LE(end + 16)
  while (at + 46 <= bytes.length && bytes.readUInt32LE(at) === directoryEntry) {
    const nameBytes = bytes.readUInt16LE(at + 28)
    yield bytes.toString('latin1', at + 46, at + 46 + nameBytes)
    at += 46 + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
  }
}
