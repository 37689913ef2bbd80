import type { EngineError } from '../../domain/errors.ts'
import { madeAs } from '../../domain/errorOf.ts'
import type { Rejection } from '../../domain/rejection.ts'

/** What a refusal is raised as at the engine's edge. */
export const raised = ({ rejected, message, details }: Rejection): EngineError => madeAs[rejected]({ code: rejected, message, details })
