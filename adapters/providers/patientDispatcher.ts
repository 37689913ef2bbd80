type Dispatcher = NonNullable<RequestInit['dispatcher']>

/**
 * What `fetch` is told to send with, so that the caller's deadline alone ends a call: on its own, fetch gives up after
 * 300 seconds without a byte, and a long generation sends none before it is done.
 *
 * Node shows the class only through the dispatcher in use. One that the user has set (a proxy, say) stays in use, and
 * so does whatever a later Node has in its place; then the 300 seconds stand.
 */
export const patientDispatcher = async (): Promise<Dispatcher | undefined> => {
  // Node makes the dispatcher when fetch is first used.
  await fetch('data:,')
  const inUse: unknown = Reflect.get(globalThis, Symbol.for('undici.globalDispatcher.1'))
  if (typeof inUse !== 'object' || inUse === null || inUse.constructor.name !== 'Agent') return undefined
  const patient: unknown = Reflect.construct(inUse.constructor, [{ headersTimeout: 0, bodyTimeout: 0 }])
  return isDispatcher(patient) ? patient : undefined
}

const isDispatcher = (value: unknown): value is Dispatcher =>
  typeof value === 'object' && value !== null && 'dispatch' in value
