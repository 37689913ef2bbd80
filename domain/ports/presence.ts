/**
 * Tells, where the host can know it, that a worker's process is gone.
 * `null` in its place means that nobody can tell, and only elapsed time ends a lease.
 */
export interface Presence {
  /** Shows this worker as alive until the process ends or the returned function is called. */
  announce(workerId: string): Promise<() => Promise<void>>
  /** True only when that worker's process has certainly ended. Never asked about a worker of this process. */
  isGone(workerId: string): Promise<boolean>
}
