import { InvalidInputError } from './errors.ts'

/** Deeper than any document people write, and far from where writing it again would overflow the stack. */
export const nestingMax = 500

/**
 * Reads JSON text without changing anything silently. Raises `InvalidInputError` naming the place for what a
 * JavaScript value could not give back exactly: an own `__proto__` key, a key that stands twice in one object, an
 * integer beyond 2^53, a number out of range, a lone surrogate, more than `nestingMax` levels. NUL and every other
 * character are kept.
 */
export const readStrictJson = (text: string): unknown => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new InvalidInputError(`not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  refuseWhatGetsLost(text)
  refuseHostile(value, '$')
  return value
}

// The runs between escapes are taken whole: a choice for each character would overflow the stack on a long string.
const tokens = /[{}]|("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** What the text says and the value read from it does not say any more. */
const refuseWhatGetsLost = (text: string): void => {
  const keysOfOpen: Set<string>[] = []
  for (const [token, name, colon] of text.matchAll(tokens)) {
    if (token === '{') keysOfOpen.push(new Set())
    else if (token === '}') keysOfOpen.pop()
    else if (name !== undefined) {
      if (colon !== undefined) refuseRepeated(name, keysOfOpen.at(-1))
    } else if (!isKept(token)) {
      throw new InvalidInputError(`the number ${shortened(token)} cannot be kept exactly: give it as a string`, {
        number: shortened(token),
      })
    }
  }
}

const refuseRepeated = (name: string, known: Set<string> | undefined): void => {
  // One key may be spelled in several ways.
  const key = name.includes('\\') ? String(JSON.parse(name)) : name.slice(1, -1)
  if (known?.has(key)) {
    throw new InvalidInputError(`the key "${shortened(key)}" stands twice in one object: only one value could be kept`, {
      key: shortened(key),
    })
  }
  known?.add(key)
}

const isKept = (token: string): boolean => {
  const value = Number(token)
  if (value === 0) return /^-?[0.]+(?:[eE]|$)/.test(token) // Too small for a number is not nothing.
  return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value)
}

const loneSurrogate = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/

/**
 * Raises `InvalidInputError` for a value, already read, that holds an own `__proto__` key or a lone surrogate, or is
 * nested deeper than `nestingMax`. `path` names where the value stands.
 */
export const refuseHostile = (value: unknown, path: string): void => {
  // By hand rather than by recursion: a hostile document may be nested deeper than the stack.
  const left: { value: unknown; path: string; depth: number }[] = [{ value, path, depth: 0 }]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value: each, path: place, depth } = next
    if (typeof each === 'string') {
      if (loneSurrogate.test(each)) {
        throw new InvalidInputError(`${place} holds half a surrogate pair, which no UTF-8 text can say`, { path: place })
      }
      continue
    }
    if (each === null || typeof each !== 'object') continue
    if (depth === nestingMax) {
      throw new InvalidInputError(`${shortened(place)} is nested deeper than ${nestingMax} levels`, { path: shortened(place) })
    }
    for (const key of Object.keys(each)) {
      const child = Array.isArray(each) ? `${place}[${key}]` : `${place}.${key}`
      if (key === '__proto__' || loneSurrogate.test(key)) {
        throw new InvalidInputError(`${child} is a key that is not allowed`, { path: child })
      }
      left.push({ value: Object.getOwnPropertyDescriptor(each, key)?.value, path: child, depth: depth + 1 })
    }
  }
}

const shortened = (text: string): string => preview(text, 41)

/** At most `lengthMax` UTF-16 units of the text, never ending in half a surrogate pair. */
export const preview = (text: string, lengthMax: number): string => {
  const whole = wellFormed(text)
  if (whole.length <= lengthMax) return whole
  const cut = whole.slice(0, lengthMax - 1)
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`
}

/** The text with each lone surrogate replaced by U+FFFD. */
export const wellFormed = (text: string): string =>
  loneSurrogate.test(text) ? text.replace(new RegExp(loneSurrogate, 'g'), '\uFFFD') : text
