/** `text` with every lone surrogate replaced by U+FFFD: half a character makes any later JSON or UTF-8 reader fail. */
export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd')

/** At most `unitsMax` UTF-16 units of `text`, cut between characters. */
export const shortened = (text: string, unitsMax: number): string => {
  if (text.length <= unitsMax) return text
  const last = text.charCodeAt(unitsMax - 1)
  const splitsPair = last >= 0xd800 && last <= 0xdbff
  return text.slice(0, splitsPair ? unitsMax - 1 : unitsMax)
}
