/** Levels of objects and lists that metadata may have: what is read has to be written again, and that recurses. */
export const nestingMax = 100

/** Whether the value is nested no deeper than `nestingMax`. */
export const isShallow = (value: unknown): boolean => {
  let level = nested([value])
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > nestingMax) return false
    level = level.flatMap((each) => nested(Object.values(each)))
  }
  return true
}

const nested = (values: readonly unknown[]): readonly object[] =>
  values.filter((value) => typeof value === 'object' && value !== null)
