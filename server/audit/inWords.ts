import { z } from 'zod'

/** What a broken event made the program raise, as one line. */
export const inWords = (error: unknown): string => {
  if (error instanceof z.ZodError) {
    const [issue] = error.issues
    return issue === undefined ? error.message : `${['data', ...issue.path.map(String)].join('.')}: ${issue.message}`
  }
  return error instanceof Error ? error.message : String(error)
}
