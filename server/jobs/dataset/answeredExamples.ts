/** The examples in a model's answer as it gave them, whether they are of use or not. Empty where it has none. */
export const answeredExamples = (text: string): readonly unknown[] => {
  for (const json of candidates(text)) {
    const answer = parsed(json)
    if (typeof answer !== 'object' || answer === null || !('examples' in answer)) continue
    return Array.isArray(answer.examples) ? answer.examples : []
  }
  return []
}

/** What may be the object that was asked for: there can be words around it, braces in them, and drafts of it before it. */
const candidates = (text: string): ReadonlySet<string> => {
  const named = [...text.matchAll(/\{\s*"examples"\s*:/g)].map(({ index }) => index)
  const starts = [text.indexOf('{'), named.at(-1) ?? -1, named[0] ?? -1].filter((start) => start !== -1)
  const closing = [...text.matchAll(/\]\s*\}/g)].at(-1)
  const ends = [text.lastIndexOf('}') + 1, closing === undefined ? 0 : closing.index + closing[0].length]
  return new Set(starts.flatMap((start) => ends.map((end) => text.slice(start, end))))
}

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}
