/**
 * The own field `name` of parsed JSON, or undefined. Reads nothing that is inherited, so a provider's `__proto__`
 * or `constructor` key is only ever data.
 */
export const jsonField = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined

/** Parsed JSON, or undefined where the text is none. */
export const parsedJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
