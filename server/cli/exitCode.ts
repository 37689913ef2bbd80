/** What the process says at its end. The one table of the command line's codes. */
export const exitCode = {
  done: 0,
  failed: 1,
  /** A verification found something broken. */
  broken: 1,
  /** The command line is wrong, or a rule said no. Nothing was written. */
  rejected: 2,
  paused: 3,
  cancelled: 4,
  /** A bug, or a world that does not work. */
  fault: 5,
  /** Stopped by a signal, and drained. */
  interrupted: 130,
} as const
export type ExitCode = (typeof exitCode)[keyof typeof exitCode]
