import type { z } from 'zod'
import type { HttpApp } from './httpApp.ts'
import { requestIssue } from './requestIssue.ts'

const names: Readonly<Record<string, string>> = { querystring: 'query', params: 'path' }

/** Has every part of a request checked by its zod schema, and refused in words that name the field. */
export const checkRequests = (app: HttpApp): void => {
  app.setValidatorCompiler<z.ZodType>(({ schema, httpPart = 'body' }) => {
    const part = names[httpPart] ?? httpPart
    return (data: unknown) => {
      const result = schema.safeParse(data)
      return result.success ? { value: result.data } : { error: requestIssue(part, schema, result.error) }
    }
  })
}
