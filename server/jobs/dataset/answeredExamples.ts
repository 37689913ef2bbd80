/** The examples in a model's answer as it gave them, whether they are of use or not. Empty where it has none. */
export const answeredExamples = (text: string): readonly unknown[] => {
  const json = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)
  try {
    const answer: unknown = JSON.parse(json)
    if (typeof answer !== 'object' || answer === null || !('examples' in answer)) return []
    return Array.isArray(answer.examples) ? answer.examples : []
  } catch {
    return []
  }
}
