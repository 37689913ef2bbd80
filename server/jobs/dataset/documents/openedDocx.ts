import { buffer } from 'node:stream/consumers'
import { Transform } from 'node:stream'
import type { Entry, ZipFile } from 'yauzl'
import { complaint, wrongDocument } from './wrongDocument.ts'

const entriesMax = 10_000
/** Unpacked, all parts together: measured, whatever the archive says. */
const unpackedBytesMax = 256 * 1_048_576
/** How much smaller than its content a part may be, once it is large. Text is packed to a tenth or a fiftieth. */
const ratioMax = 300
const ratioFromBytes = 16 * 1_048_576

const documentPart = 'word/document.xml'
/** Small ones that say something of the document, or that the reader of its text leaves out. */
const keptParts = /^(?:docProps\/(?:core|custom)\.xml|word\/(?:header|footer)\d*\.xml)$/

/** The parts of a docx that are read by themselves, as XML, by name; `names` are those of all parts. */
export type OpenedDocx = { readonly names: readonly string[]; readonly kept: ReadonlyMap<string, string> }

/**
 * Unpacks every part of a docx once, before any library that would hold it in memory. Raises `InvalidInputError` for
 * one that is encrypted, damaged, lacks its text, or unpacks to more than a document does (a zip bomb).
 */
export const openedDocx = async (content: Uint8Array, name: string): Promise<OpenedDocx> => {
  const { fromBufferPromise } = await import('yauzl')
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  const names: string[] = []
  const kept = new Map<string, string>()
  let unpacked = 0
  try {
    const zip = await fromBufferPromise(bytes, { lazyEntries: true })
    if (zip.entryCount > entriesMax) throw bomb(name, `it has ${zip.entryCount} parts, over the limit of ${entriesMax}`)
    for await (const entry of zip.eachEntry()) {
      if (entry.isEncrypted()) throw wrongDocument(name, 'is encrypted: remove its password', { rule: 'encrypted' })
      if (entry.fileName.endsWith('/')) continue
      const isKept = keptParts.test(entry.fileName)
      const part = await unpackedPart({ zip, entry, name, before: unpacked, isKept })
      unpacked += part.bytes
      names.push(entry.fileName)
      if (isKept) kept.set(entry.fileName, part.text)
    }
  } catch (error) {
    if (error instanceof Error && error.name === 'InvalidInputError') throw error
    throw wrongDocument(name, `is damaged: ${complaint(error)}`, { rule: 'damaged' })
  }
  if (!names.includes(documentPart)) throw wrongDocument(name, `is damaged: it has no ${documentPart}`, { rule: 'damaged' })
  return { names, kept }
}

const bomb = (name: string, why: string) => wrongDocument(name, `looks like a zip bomb: ${why}`, { rule: 'zip_bomb' })

const unpackedPart = async (part: {
  readonly zip: ZipFile
  readonly entry: Entry
  readonly name: string
  readonly before: number
  readonly isKept: boolean
}): Promise<{ readonly bytes: number; readonly text: string }> => {
  const { fileName, compressedSize } = part.entry
  let bytes = 0
  const measured = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.byteLength
      if (part.before + bytes > unpackedBytesMax) {
        done(bomb(part.name, `it unpacks to more than ${unpackedBytesMax} bytes`))
      } else if (bytes > ratioFromBytes && bytes > compressedSize * ratioMax) {
        done(bomb(part.name, `its part ${fileName} unpacks to more than ${ratioMax} times its size`))
      } else done(null, part.isKept ? chunk : null)
    },
  })
  const source = await part.zip.openReadStreamPromise(part.entry)
  source.on('error', (error) => measured.destroy(error))
  measured.on('close', () => source.destroy())
  const content = await buffer(source.pipe(measured))
  return { bytes, text: content.toString('utf8') }
}
