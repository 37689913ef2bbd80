import { expect, test } from 'vitest'
import { parseMarkdown } from '../../../../../server/jobs/dataset/documents/parseMarkdown.ts'
import { expectWellBuilt, shown } from './parsedBlocks.ts'

const parsed = (text: string) => parseMarkdown(new Uint8Array(Buffer.from(text)), 'a.md')

test('the text is the source without its front matter, and blocks are slices of it', async () => {
  const body = '# A *b*\n\nwords\nmore\n\n- a\n\n  b\n- c\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n```js\n\n# no\n```\n> q\n\nSet\n---\n'
  const read = await parsed(`---\nTitle: X\nversion: 1.10\ntags: [a, b]\nnested: { a: 1 }\n---\n${body}`)
  expect(read).toMatchObject({ text: body, declared: { title: 'X', version: '1.10', tags: 'a, b' }, notes: [] })
  expect(shown(read)).toEqual([
    'heading 1: # A *b*',
    'paragraph: words\nmore',
    'list: - a\n\n  b\n- c',
    'table: | x | y |\n|---|---|\n| 1 | 2 |',
    'code: ```js\n\n# no\n```',
    'quote: > q',
    'heading 2: Set\n---',
  ])
})

test.each([
  ['that is no YAML', '---\na: [\n---\nwords', [expect.stringMatching(/^its front matter is no YAML and stays in the text: /)]],
  ['that expands without end', `---\na: &a [x]\nb: &b [${'*a,'.repeat(50)}]\nc: [${'*b,'.repeat(50)}]\n---\nwords`, [expect.anything()]],
  ['that is a sentence between rules', '---\nwords\n---\nmore', []],
])('front matter %s stays in the text', async (_, text, notes) => {
  expect(await parsed(text)).toMatchObject({ text, declared: {}, notes })
})

test('an empty front matter is none of the text', async () => {
  expect(await parsed('---\n---\nwords')).toMatchObject({ text: '---\n---\nwords' })
})

test('a long text has the blocks that its parts have', async () => {
  const part = (nth: number): string =>
    `## Part ${nth}\n\nwords of it\n\n- a\n\n- b\n\n\`\`\`\n# no\n\n- no\n\`\`\`\n\n| x | y |\n|---|---|\n| ${nth} | 2 |\n\n`
  const count = 400
  const read = await parsed(Array.from({ length: count }, (_, nth) => part(nth)).join(''))
  const expected = (await Promise.all([1].map((nth) => parsed(part(nth))))).flatMap(({ blocks }) => blocks.map(({ kind }) => kind))
  expect(read.blocks.map(({ kind }) => kind)).toEqual(Array.from({ length: count }, () => expected).flat())
  expectWellBuilt(read)
})
