/** What a prompt is about, most telling first. */
export type Material = {
  readonly sentences: readonly string[]
  readonly terms: readonly string[]
}

const smallWords = new Set(
  (
    'about above after again against also always among another because been before being below between both ' +
    'could does doing down during each either else every from further have having here into itself just like ' +
    'made make many more most much must none only other over same shall should since some such than that ' +
    'their them then there these they this those through under until upon very were what when where which ' +
    'while will with within without would your'
  ).split(' '),
)

/** Ranks sentences by how often their words occur in the text, and words by how often they occur. Ties keep order. */
export const materialOf = (text: string): Material => {
  const counts = new Map<string, number>()
  for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + 1)
  const weight = (sentence: string): number => {
    const words = new Set(wordsOf(sentence))
    let sum = 0
    for (const word of words) sum += counts.get(word) ?? 0
    return words.size === 0 ? 0 : sum / Math.sqrt(words.size)
  }
  const weighed = sentencesOf(text).map((sentence) => ({ sentence, weight: weight(sentence) }))
  return {
    sentences: weighed.sort((left, right) => right.weight - left.weight).map((each) => each.sentence),
    terms: [...counts].sort(([, left], [, right]) => right - left).map(([word]) => word),
  }
}

const wordsOf = (text: string): string[] =>
  (text.toLowerCase().match(/\p{L}[\p{L}\p{M}\p{N}-]{3,}/gu) ?? []).filter((word) => !smallWords.has(word))

/** Whole sentences, where the text has any: what stands in headings and tables is a poor answer. */
const sentencesOf = (text: string): string[] => {
  const parts = text
    .split(/\n\s*\n/u)
    .flatMap((block) => block.replace(lineWrapped, ' ').split(/(?<=[.!?]["')\]]?)\s+|(?<=[。！？])|\n+/u))
    .map((part) => part.replace(/^(?:\s|#|>|[*-](?=\s))+/, '').trim())
    .filter((part) => part !== '')
  const whole = parts.filter((part) => /[.!?。！？]["')\]]?$/u.test(part))
  return [...new Set(whole.length > 0 ? whole : parts)]
}

/** The end of a line within a paragraph: what follows begins neither an item nor a heading nor a row. */
const lineWrapped = /\n(?=[ \t]*[^\s#>*|\-\d])/gu
