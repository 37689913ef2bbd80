import { z } from 'zod'
import { defineProjection } from '../../projections/projection.ts'

// region projection
const FailureCount = z.strictObject({ code: z.string(), jobs: z.int() })

export const failuresByCode = defineProjection<z.infer<typeof FailureCount>>({
  name: 'failuresByCode',
  version: 1,
  schema: FailureCount,
  keyOf: (event) => (event.type === 'JobFailed' ? event.data.errorCode : null),
  project: (view, event) =>
    event.type === 'JobFailed' ? { code: event.data.errorCode, jobs: (view?.jobs ?? 0) + 1 } : view,
  place: (view) => ({ terms: ['all'], sort: view.code }),
})
// endregion projection
