import { z } from 'zod'

const withoutProto = z.unknown().superRefine((value, context) => {
  if (typeof value === 'object' && value !== null && Object.hasOwn(value, '__proto__')) {
    context.addIssue({ code: 'custom', path: ['__proto__'], message: 'is a key that is not allowed' })
  }
})

/** A record whose keys people choose. zod's own drops a key named `__proto__` in silence; this one refuses it. */
export const recordOf = <K extends z.ZodType<string, string>, V extends z.ZodType>(key: K, value: V) =>
  z.record(key, value).and(withoutProto)
