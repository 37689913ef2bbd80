import type { Readable } from 'node:stream'

/** Of what a command puts out, in UTF-16 units: its end, where the reason of a failure stands. */
export const outputUnitsMax = 1_000

/** Reads the streams to their ends, and answers the last of what has come, on one line. */
export const lastOf = (streams: readonly Readable[]): (() => string) => {
  let kept = ''
  let isWhole = true
  for (const stream of streams) {
    stream.setEncoding('utf8')
    stream.on('error', () => {})
    stream.on('data', (text: string) => {
      const all = kept + text
      isWhole &&= all.length <= outputUnitsMax
      kept = all.slice(-outputUnitsMax)
    })
  }
  return () => {
    const line = kept.replace(/\p{Surrogate}/gu, '\ufffd').replace(/[\u0000-\u0020\u007f-\u009f]+/g, ' ').trim()
    return isWhole ? line : `…${line}`
  }
}
