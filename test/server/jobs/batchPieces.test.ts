import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { orderedPieces } from '../../../server/jobs/batch/orderedPieces.ts'

const seed = 20_261_201

const inPieces = async (rows: readonly string[], order: readonly number[], bytesMin: number) => {
  const pieces = orderedPieces(async (content) => new TextDecoder().decode(content), bytesMin)
  for (const index of order) await pieces.add(index, new TextEncoder().encode(rows[index]))
  return pieces.end()
}

describe('rows joined into pieces', () => {
  test(`are cut the same way whatever order they come in, and join to the rows in order (seed ${seed})`, async () => {
    const rowsAndOrder = fc
      .array(fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 9 }), { maxLength: 30 })
      .chain((rows) => fc.tuple(fc.constant(rows), fc.shuffledSubarray([...rows.keys()], { minLength: rows.length })))
    await fc.assert(
      fc.asyncProperty(rowsAndOrder, fc.integer({ min: 1, max: 40 }), async ([rows, order], bytesMin) => {
        const pieces = await inPieces(rows, order, bytesMin)
        expect(pieces.join('')).toBe(rows.join(''))
        expect(pieces).toEqual(await inPieces(rows, [...rows.keys()], bytesMin))
        expect(pieces.slice(0, -1).every((piece) => piece.length >= bytesMin)).toBe(true)
      }),
      { seed },
    )
  })

  test('are put as soon as a piece is full, not at the end', async () => {
    const put: string[] = []
    const pieces = orderedPieces(async (content) => put.push(new TextDecoder().decode(content)), 4)
    await pieces.add(1, Buffer.from('cd'))
    expect(put).toEqual([])
    await pieces.add(0, Buffer.from('ab'))
    expect(put).toEqual(['abcd'])
    await pieces.add(2, Buffer.from('e'))
    expect(put).toEqual(['abcd'])
    expect(await pieces.end()).toHaveLength(2)
    expect(put).toEqual(['abcd', 'e'])
  })

  test('raise what their store raises', async () => {
    const pieces = orderedPieces(async () => Promise.reject(new Error('disk full')), 1)
    await expect(pieces.add(0, Buffer.from('a'))).rejects.toThrow('disk full')
  })
})
