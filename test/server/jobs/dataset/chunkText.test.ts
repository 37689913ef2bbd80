import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chunkText } from '../../../../server/jobs/dataset/chunkText.ts'
import type { Block } from '../../../../server/jobs/dataset/parsedText.ts'
import { tokenCounter } from '../../../../server/jobs/dataset/tokens.ts'

const count = await tokenCounter()

type Part = readonly [kind: Block['kind'], content: string, level?: number]

/** A text of these blocks, an empty line between two. */
const written = (...parts: readonly Part[]) => {
  const blocks: Block[] = []
  let text = ''
  for (const [kind, content, level] of parts) {
    if (text !== '') text += '\n\n'
    blocks.push({ kind, start: text.length, end: text.length + content.length, ...(level === undefined ? {} : { level }) })
    text += content
  }
  return { text, blocks, pages: [] }
}

const prose = (sentences: number, about = 'harbour'): string =>
  Array.from({ length: sentences }, (_, nth) => `The ${about} has a rule of its own for boat number ${nth}.`).join(' ')

const chunksOf = async (parsed: ReturnType<typeof written>, chunkTokens = 64, gaps: readonly { start: number; end: number }[] = []) => {
  const chunks = await chunkText(parsed, { chunkTokens, count, gaps })
  return chunks.map((chunk) => ({ ...chunk, slice: parsed.text.slice(chunk.start, chunk.end) }))
}

describe('a text in chunks', () => {
  test('joins small blocks up to the limit', async () => {
    const parsed = written(['paragraph', prose(2)], ['paragraph', prose(2)], ['list', '- one\n- two'])
    expect(await chunksOf(parsed, 200)).toMatchObject([{ start: 0, end: parsed.text.length, tokens: count(parsed.text) }])
  })

  test('begins anew at a heading of the first two levels, and not at one below', async () => {
    const parsed = written(
      ['heading', 'Harbour', 1],
      ['paragraph', prose(4)],
      ['heading', 'Tides', 2],
      ['paragraph', prose(2, 'tide')],
      ['heading', 'Neap', 3],
      ['paragraph', prose(2, 'neap tide')],
    )
    expect(await chunksOf(parsed, 120)).toMatchObject([
      { headings: ['Harbour'], slice: expect.stringMatching(/^Harbour\n\n/) },
      { headings: ['Harbour', 'Tides'], slice: expect.stringMatching(/^Tides\n\n[^]*\n\nNeap\n\n/) },
    ])
  })

  test('joins sections that are too small to be asked about alone', async () => {
    const parsed = written(['heading', 'One', 2], ['paragraph', prose(1)], ['heading', 'Two', 2], ['paragraph', prose(1)])
    expect(await chunksOf(parsed, 200)).toHaveLength(1)
  })

  test('keeps a heading with what stands under it', async () => {
    const parsed = written(['paragraph', prose(4)], ['heading', 'Low', 3], ['paragraph', prose(4)])
    expect((await chunksOf(parsed)).map(({ slice }) => slice.indexOf('Low'))).toEqual([-1, 0])
  })

  test('cuts a block that is too large between its sentences', async () => {
    for (const { slice } of await chunksOf(written(['paragraph', prose(40)]))) expect(slice).toMatch(/^The .*\.$/)
  })

  test('cuts a table between its rows', async () => {
    const rows = Array.from({ length: 30 }, (_, nth) => `| ${nth}. Mai | High. Water | 12:${nth + 10} |`)
    const chunks = await chunksOf(written(['table', rows.join('\n')]))
    expect(chunks.flatMap(({ slice }) => slice.split('\n'))).toEqual(rows)
    expect(chunks.length).toBeGreaterThan(4)
  })

  test('leaves no tiny rest at the end', async () => {
    const sizes = await Promise.all(Array.from({ length: 30 }, (_, nth) => chunksOf(written(['paragraph', prose(nth + 7)]), 100)))
    for (const chunks of sizes) for (const { tokens } of chunks) expect(tokens).toBeGreaterThanOrEqual(25)
  })

  test('spans no gap, and holds nothing of one', async () => {
    const secret = 'Write to the master himself.'
    const parsed = written(['paragraph', `${prose(3)} ${secret} ${prose(3, 'quay')}`], ['paragraph', prose(1, 'pier')])
    const start = parsed.text.indexOf(secret)
    const chunks = await chunksOf(parsed, 400, [{ start, end: start + secret.length }])
    expect(chunks.map(({ slice }) => slice)).toEqual([prose(3), `${prose(3, 'quay')}\n\n${prose(1, 'pier')}`])
  })

  test('names the page a chunk begins on', async () => {
    const parsed = written(['paragraph', prose(4)], ['paragraph', prose(4)])
    const start = parsed.blocks[1]!.start
    const pages = [
      { number: 1, start: 0, end: start },
      { number: 2, start, end: parsed.text.length },
    ]
    expect((await chunkText({ ...parsed, pages }, { chunkTokens: 64, count })).map(({ page }) => page)).toEqual([1, 2])
  })

  test('takes time in proportion to a text without a seam', async () => {
    const parsed = written(['paragraph', 'a'.repeat(200_000)], ['code', '🐚'.repeat(100_000)])
    const chunks = await chunksOf(parsed, 400)
    expect(chunks.map(({ slice }) => slice).join('')).toBe('a'.repeat(200_000) + '🐚'.repeat(100_000))
  })

  test('is counted where it has no seam for megabytes', () => {
    expect(count('a'.repeat(16_000_000))).toBe(16_000_000)
  })

  const word = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom('tide', 'harbour.', 'Ebb!', '3.5 m', 'e.g.', '“so.”', '|', '\n', '\n\n') },
    { weight: 2, arbitrary: fc.constantFrom('潮が満ちる。', '🐚', 'x'.repeat(300), '='.repeat(70), '。', '\u2028', '🐚'.repeat(40)) },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 30 }) },
  )
  const part = fc
    .tuple(
      fc.constantFrom<Block['kind']>('heading', 'paragraph', 'list', 'table', 'code', 'quote'),
      fc.array(word, { minLength: 1, maxLength: 120 }).map((words) => words.join(' ').trim()),
      fc.integer({ min: 1, max: 6 }),
    )
    .filter(([, content]) => content !== '')
  const texts = fc.array(part, { maxLength: 12 }).map((parts) => written(...parts))
  const share = fc.float({ min: 0, max: 1, noNaN: true, maxExcluded: true })

  test('holds everything but white space and gaps exactly once and in order, within the limit, and splits no character', async () => {
    const property = fc.asyncProperty(texts, fc.integer({ min: 64, max: 300 }), fc.array(share, { maxLength: 4 }), async (parsed, chunkTokens, cuts) => {
      const { text } = parsed
      const places = [...new Set(cuts.map((cut) => Math.floor(cut * text.length)))].toSorted((left, right) => left - right)
      const whole = places.map((at) => (/[\uDC00-\uDFFF]/.test(text.charAt(at)) ? at + 1 : at))
      const gaps = whole.flatMap((start, nth) => (nth % 2 === 0 ? [{ start, end: whole[nth + 1] ?? text.length }] : []))
      const chunks = await chunksOf(parsed, chunkTokens, gaps)
      const bare = (slice: string): string => slice.replace(/\s+/g, '')
      const kept = gaps.toReversed().reduce((rest, { start, end }) => rest.slice(0, start) + ' ' + rest.slice(end), text)
      expect(bare(chunks.map(({ slice }) => slice).join(''))).toBe(bare(kept))
      for (const [nth, { start, end, tokens, slice }] of chunks.entries()) {
        expect(slice).toBe(slice.trim())
        expect(slice).not.toMatch(/\p{Surrogate}/u)
        expect(tokens).toBe(count(slice))
        expect(tokens).toBeLessThanOrEqual(chunkTokens)
        expect(start).toBeGreaterThanOrEqual(chunks[nth - 1]?.end ?? 0)
        expect(gaps.some((gap) => gap.start < end && gap.end > start && gap.end > gap.start)).toBe(false)
      }
    })
    await fc.assert(property, { seed: 20_261_202, numRuns: 300 })
  })
})
