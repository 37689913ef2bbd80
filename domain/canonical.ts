import canonicalize from 'canonicalize'

/**
 * The RFC 8785 form of a JSON value: equal values have equal text, whatever the order of their keys.
 * Raises for what JSON cannot say (NaN, bigint, lone surrogates, cycles).
 */
export const canonical = (value: unknown): string => {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('undefined has no canonical JSON')
  return text
}
