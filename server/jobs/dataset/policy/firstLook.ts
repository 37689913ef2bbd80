import type { SubmittedDocument } from '../datasetInput.ts'
import { decodeText, utf16Of } from '../documents/decodeText.ts'
import { frontMatter } from '../documents/frontMatter.ts'
import { htmlDeclared } from '../documents/htmlDeclared.ts'
import { htmlEvents } from '../documents/htmlEvents.ts'
import type { ParsedText } from '../parsedText.ts'

type FirstLook = Pick<ParsedText, 'text' | 'declared'>

/** Where HTML says what it is. The rest shows when it is parsed. */
const headBytes = 65_536

/**
 * What a document shows of itself before it is parsed: a text its lines, numbered as in the file, HTML what its head
 * declares, PDF and docx nothing. Raises `InvalidInputError` for a text that is none.
 */
export const firstLook = async ({ name, original }: SubmittedDocument, content: Uint8Array): Promise<FirstLook> => {
  switch (original.mediaType) {
    case 'text/plain':
      return { text: decodeText(name, content).text, declared: {} }
    case 'text/markdown':
      return markdownLook(decodeText(name, content).text)
    case 'text/html':
      return htmlLook(content.subarray(0, headBytes))
    case 'application/pdf':
    case 'application/vnd.openxmlformats-officedocument.wordprocessingml.document':
      return { text: '', declared: {} }
  }
}

const markdownLook = async (text: string): Promise<FirstLook> => {
  const { declared, body } = await frontMatter(text)
  return { text: text.slice(0, text.length - body.length).replace(/[^\n]+/g, '') + body, declared }
}

const htmlLook = async (head: Uint8Array): Promise<FirstLook> => {
  const gathered = htmlDeclared()
  // Never raises: what is cut may end in half a character.
  await htmlEvents(new TextDecoder(utf16Of(head) ?? 'utf-8').decode(head), gathered)
  return { text: '', declared: gathered.declared() }
}
