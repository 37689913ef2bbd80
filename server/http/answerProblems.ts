import type { FastifyReply } from 'fastify'
import { EngineError } from '../../domain/errors.ts'
import { preview } from '../../domain/strictJson.ts'
import type { HttpApp } from './httpApp.ts'
import { problemMediaType, problemOf, problemText } from './problems.ts'

const retryAfterSeconds = 5

export type Fault = (what: string, error: unknown) => void

/** Answers what went wrong as a problem; `fault` is told what is ours to mend. */
export const answerProblem = (error: unknown, reply: FastifyReply, fault: Fault): void => {
  const problem = problemOf(error)
  if (problem.isFault) fault(`${reply.request.method} ${reply.request.routeOptions.url ?? ''}`, error)
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer')
  if (problem.status === 503) reply.header('retry-after', String(retryAfterSeconds))
  void reply.code(problem.status).type(problemMediaType).send(problemText(problem))
}

/** Has everything that goes wrong in a route, and what is no route, answered so. */
export const answerProblems = (app: HttpApp, fault: Fault): void => {
  app.setErrorHandler((error, _, reply) => answerProblem(error, reply, fault))
  app.setNotFoundHandler((request, reply) => {
    const path = preview(request.url.replace(/\?.*$/s, ''), 200)
    answerProblem(new EngineError('route_not_found', `there is no ${request.method} ${path}`), reply, fault)
  })
}
