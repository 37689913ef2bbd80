/** `{ [name]: value }`, or nothing where there is no value: for fields that are either there or left out. */
export const present = <Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [Key in Name]?: Value } => {
  const found: { [Key in Name]?: Value } = {}
  if (value !== undefined) found[name] = value
  return found
}
