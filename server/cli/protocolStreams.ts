import { Writable } from 'node:stream'
import type { ProtocolStreams } from '../engine.ts'

/**
 * Standard input and output for a protocol alone: from now on whatever else this process writes to standard output goes to
 * standard error.
 */
export const protocolStreams = (): ProtocolStreams => {
  const write = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr)
  return { input: process.stdin, output: new Writable({ write: (chunk: Uint8Array, _, done) => void write(chunk, done) }) }
}
