import type { fromMarkdown } from 'mdast-util-from-markdown'
import type { Block, ParsedText } from '../parsedText.ts'
import { decodeText } from './decodeText.ts'
import { frontMatter } from './frontMatter.ts'
import { markdownPieces } from './markdownPieces.ts'

/**
 * A Markdown text as it is written, without its front matter; its blocks are those of CommonMark with tables, at the
 * top level. Raises `InvalidInputError` for what is no text.
 */
export const parseMarkdown = async (content: Uint8Array, name: string): Promise<ParsedText> => {
  const decoded = decodeText(name, content)
  const { declared, body, notes } = await frontMatter(decoded.text)
  return { text: body, blocks: await blocksOf(body), pages: [], declared, notes: [...decoded.notes, ...notes] }
}

/** What stands inside of a line is text here, and most of the work. */
const inline = {
  disable: {
    null: [
      ...['attention', 'autolink', 'characterEscape', 'characterReference', 'codeText', 'hardBreakEscape', 'htmlText'],
      ...['labelEnd', 'labelStartImage', 'labelStartLink'],
    ],
  },
}

const blocksOf = async (text: string): Promise<Block[]> => {
  const [markdown, { gfmTable }, { gfmTableFromMarkdown }] = await Promise.all([
    import('mdast-util-from-markdown'),
    import('micromark-extension-gfm-table'),
    import('mdast-util-gfm-table'),
  ])
  const options = { extensions: [gfmTable(), inline], mdastExtensions: [gfmTableFromMarkdown()] }
  return [...markdownPieces(text)].flatMap(({ start, end }) => {
    const piece = text.slice(start, end)
    return markdown.fromMarkdown(piece, options).children.flatMap((node) => blockOf(node, piece, start))
  })
}

type Node = ReturnType<typeof fromMarkdown>['children'][number]

const kinds: Partial<Readonly<Record<Node['type'], Block['kind']>>> = {
  heading: 'heading',
  list: 'list',
  table: 'table',
  code: 'code',
  blockquote: 'quote',
}

const blockOf = (node: Node, piece: string, base: number): Block[] => {
  const from = node.position?.start.offset ?? 0
  const source = piece.slice(from, node.position?.end.offset)
  const words = source.trim()
  if (words === '') return []
  const start = base + from + source.length - source.trimStart().length
  const level = node.type === 'heading' ? { level: node.depth } : {}
  return [{ kind: kinds[node.type] ?? 'paragraph', ...level, start, end: start + words.length }]
}
