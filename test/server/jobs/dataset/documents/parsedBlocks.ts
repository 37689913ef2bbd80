import { expect } from 'vitest'
import type { ParsedText } from '../../../../../server/jobs/dataset/parsedText.ts'

/** `kind: text`, or `heading 2: text`: what a test says of blocks. */
export const shown = ({ text, blocks }: ParsedText): readonly string[] =>
  blocks.map(({ kind, level, start, end }) => `${kind}${level === undefined ? '' : ` ${level}`}: ${text.slice(start, end)}`)

/** What every parsed text promises, whatever it was. */
export const expectWellBuilt = ({ text, blocks, pages }: ParsedText): void => {
  expect(text).not.toMatch(/\r|\p{Surrogate}|\0/u)
  let end = 0
  for (const block of blocks) {
    expect(block.start).toBeGreaterThanOrEqual(end)
    expect(block.end).toBeGreaterThan(block.start)
    expect(text.slice(end, block.start).trim()).toBe('')
    expect(text.slice(block.start, block.end).trim()).not.toBe('')
    end = block.end
  }
  expect(text.slice(end).trim()).toBe('')
  expect(end).toBeLessThanOrEqual(text.length)
  let pageEnd = 0
  for (const [index, page] of pages.entries()) {
    expect(page.number).toBe(index + 1)
    expect(page.start).toBeGreaterThanOrEqual(pageEnd)
    expect(page.end).toBeGreaterThanOrEqual(page.start)
    pageEnd = page.end
  }
}
