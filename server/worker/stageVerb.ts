import { LeaseLostError, StoreUnavailable } from '../../domain/errors.ts'
import { Interrupted } from '../defineJob.ts'
import type { Stopping } from './stopping.ts'

/**
 * Makes a verb of a stage: a lost lease, or a store that is waited for no longer, is told as every other reason to
 * stop. A stage that does not listen to one of its verbs, because another has just failed, must not end the process
 * that works other jobs too, so each rejection is heard here.
 */
export const stageVerb =
  (stopping: Stopping) =>
  <Given extends readonly unknown[], T>(work: (...given: Given) => Promise<T>) =>
  (...given: Given): Promise<T> => {
    const done = work(...given).catch((error: unknown) => {
      const isStop = error instanceof LeaseLostError || error instanceof StoreUnavailable
      throw isStop && stopping.reason !== null ? new Interrupted() : error
    })
    done.catch(() => {})
    return done
  }
