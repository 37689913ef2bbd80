import { EngineError, InvalidInputError, JobStateError } from '../../domain/errors.ts'
import { errorOf } from '../../domain/errorOf.ts'
import type { Answer } from './exchange.ts'
import { type Problem, problemSchema } from './schemas/problemSchema.ts'

/** The error that a server's problem stands for, as it would have been raised here. What is no problem is a fault. */
export const raisedProblem = (answer: Answer, asked: string): EngineError => {
  const problem = problemIn(answer.body)
  if (problem === null) {
    return new EngineError('internal', `${asked} was answered with status ${answer.status} and no problem: is this a knovaryn server?`, { status: answer.status })
  }
  const { code, detail, details } = problem
  if (code === 'internal') return new EngineError(code, `the server failed at ${asked}: its own log says why`)
  return errorOf({ code, message: detail, details }) ?? unlisted(problem, asked)
}

/** Rules of single job types have codes of their own: what kind they are of is told by the status. */
const unlisted = ({ status, code, detail, details }: Problem, asked: string): EngineError => {
  if (status === 400) return new InvalidInputError(detail, details, code)
  if (status === 409) return new JobStateError(code, detail, details)
  return new EngineError('internal', `${asked} was answered with a problem that is not known here: ${code}: ${detail}`, { status, code })
}

const problemIn = (body: Uint8Array): Problem | null => {
  try {
    const parsed = problemSchema.safeParse(JSON.parse(new TextDecoder().decode(body)))
    return parsed.success ? parsed.data : null
  } catch {
    return null
  }
}
