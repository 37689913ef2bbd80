import type { Declared } from '../parsedText.ts'
import type { HtmlEvents } from './htmlEvents.ts'

const charactersMax = 10_000

/** Gathers what an HTML document says of itself: its title, its `<meta>` tags and its link to a licence. */
export const htmlDeclared = (): HtmlEvents & { declared(): Declared } => {
  const declared = new Map<string, string>()
  let title: string | null = null
  const declare = (name: string, value: string | undefined): void => {
    const key = name.trim().toLowerCase()
    if (key !== '' && value !== undefined && !declared.has(key)) declared.set(key, value.trim().slice(0, charactersMax))
  }
  return {
    open: (tag, attributes) => {
      if (tag === 'title') title ??= ''
      if (tag === 'meta') {
        declare(attributes.get('name') ?? attributes.get('property') ?? '', attributes.get('content'))
      } else if (tag === 'link' || tag === 'a') {
        if (/(?:^|\s)license(?:\s|$)/i.test(attributes.get('rel') ?? '')) declare('license', attributes.get('href'))
      }
    },
    text: (text) => {
      if (title !== null) title = (title + text).slice(0, charactersMax)
    },
    close: (tag) => {
      if (tag !== 'title' || title === null) return
      declare('title', title.replace(/\s+/g, ' '))
      title = null
    },
    declared: () => Object.fromEntries(declared),
  }
}
