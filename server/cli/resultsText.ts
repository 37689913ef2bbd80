const namedMax = 6

/** Where the results are, on one line however many they are; nothing where there are none. */
export const resultsText = (paths: readonly string[]): readonly string[] => {
  if (paths.length === 0) return []
  const more = paths.length > namedMax ? ` and ${paths.length - namedMax} more` : ''
  return [`Results: ${paths.slice(0, namedMax).join(', ')}${more}`]
}
