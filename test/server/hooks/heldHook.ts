import type { CompletionHook, Ending, HookAnswer } from '../../../domain/ports/completionHook.ts'

export type HeldTell = {
  readonly ending: Ending
  readonly signal: AbortSignal
  answer(over?: Partial<HookAnswer>): void
}

/** A hook that answers nothing by itself, and ends what is cut short. */
export const heldHook = (over: Partial<CompletionHook> = {}) => {
  const tells: HeldTell[] = []
  const hook: CompletionHook = {
    kind: 'webhook',
    title: 'held',
    tell: (ending, signal) =>
      new Promise((resolve) => {
        const cut = (): void => answer({ taken: false, said: 'it was cut short' })
        const answer = (given: Partial<HookAnswer> = {}): void => {
          signal.removeEventListener('abort', cut)
          resolve({ taken: true, said: '', askedMs: null, ...given })
        }
        signal.addEventListener('abort', cut)
        tells.push({ ending, signal, answer })
      }),
    ...over,
  }
  return { hook, tells, types: () => tells.map(({ ending }) => ending.type) }
}

export const refusal: Partial<HookAnswer> = { taken: false, said: 'answered 500' }
