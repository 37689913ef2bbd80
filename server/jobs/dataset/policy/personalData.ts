import { cardsIn } from './cardsIn.ts'
import { emailsIn } from './emailsIn.ts'
import { idNumbersIn } from './idNumbersIn.ts'
import { phonesIn } from './phonesIn.ts'

/** A slice of a text: UTF-16 offsets, `end` exclusive. */
export type Found = { readonly start: number; readonly end: number }

export type PersonalData = Found & { readonly kind: 'email' | 'phone' | 'card' | 'id_number' }

/**
 * The personal data in a text, in order and without overlap: what overlaps is one. Takes time in proportion to the text, whatever is in it.
 * Loads libraries of some size: import this file where it is used, with `await import`.
 */
export const findPersonalData = (text: string): readonly PersonalData[] => {
  const found = [
    ...emailsIn(text).map((each): PersonalData => ({ kind: 'email', ...each })),
    ...phonesIn(text).map((each): PersonalData => ({ kind: 'phone', ...each })),
    ...cardsIn(text).map((each): PersonalData => ({ kind: 'card', ...each })),
    ...idNumbersIn(text).map((each): PersonalData => ({ kind: 'id_number', ...each })),
  ]
  found.sort((one, other) => one.start - other.start || other.end - one.end)
  const apart: PersonalData[] = []
  for (const each of found) {
    const last = apart.at(-1)
    if (last === undefined || each.start >= last.end) apart.push(each)
    else if (each.end > last.end) apart.splice(-1, 1, { ...last, end: each.end })
  }
  return apart
}
