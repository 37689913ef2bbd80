import { crc32, deflateRawSync } from 'node:zlib'

export type ZipPart = {
  readonly name: string
  readonly content: Uint8Array | string
  /** The size it claims to unpack to. */
  readonly claims?: number
  readonly encrypted?: boolean
}

const deflated = new Map<unknown, Buffer>()
const packed = (content: Uint8Array | string): Buffer => {
  const known = deflated.get(content) ?? deflateRawSync(content)
  deflated.set(content, known)
  return known
}

/** A zip with whatever is wrong with it that a test wants. */
export const madeZip = (parts: readonly ZipPart[]): Uint8Array => {
  const files: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const { name, content, claims, encrypted } of parts) {
    const data = packed(content)
    const header = Buffer.alloc(26)
    header.writeUInt16LE(20, 0)
    header.writeUInt16LE(encrypted === true ? 1 : 0, 2)
    header.writeUInt16LE(8, 4)
    header.writeUInt32LE(crc32(content), 10)
    header.writeUInt32LE(data.length, 14)
    header.writeUInt32LE(claims ?? Buffer.byteLength(content), 18)
    header.writeUInt16LE(Buffer.byteLength(name), 22)
    const entry = Buffer.alloc(14)
    entry.writeUInt32LE(at, 10)
    const file = Buffer.concat([Buffer.from('PK\x03\x04'), header, Buffer.from(name), data])
    files.push(file)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\0', 'latin1'), header, entry, Buffer.from(name)]))
    at += file.length
  }
  const entries = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(parts.length, 4)
  end.writeUInt16LE(parts.length, 6)
  end.writeUInt32LE(entries.length, 8)
  end.writeUInt32LE(at, 12)
  return new Uint8Array(Buffer.concat([...files, entries, Buffer.from('PK\x05\x06'), end]))
}
