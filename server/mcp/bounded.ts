import { z } from 'zod'
import { preview } from '../../domain/strictJson.ts'

const charactersMaxDefault = 1_000

/** A JSON value that may be long: whole where its text is short enough, else the beginning of that text. */
export const boundedSchema = z
  .unknown()
  .describe('A JSON value; where it is long { "shortened": "the beginning of its text…", "characters": its whole length }')

export const bounded = (value: unknown, charactersMax = charactersMaxDefault): unknown => {
  const text = JSON.stringify(value) ?? 'null'
  return text.length <= charactersMax ? value : { shortened: preview(text, charactersMax), characters: text.length }
}
