import { EngineError } from '../../domain/errors.ts'
import type { Asking } from '../client/restClient.ts'
import type { JobListQuery } from '../engine.ts'

/** The query as the route has it: it knows one project, or all that the token is for. */
export const queryOfList = ({ projectIds, ...query }: JobListQuery): Asking['query'] => {
  if (projectIds === undefined) return query
  const [only, ...more] = projectIds
  if (only !== undefined && more.length === 0 && (query.projectId ?? only) === only) return { ...query, projectId: only }
  throw new EngineError('not_over_http', 'jobs are listed of one project, or of all: name one with projectId')
}
