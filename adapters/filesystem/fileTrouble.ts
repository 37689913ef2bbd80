import { StoreUnavailable } from '../../domain/errors.ts'

const sentences: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: free some space',
  EDQUOT: 'the disk quota is used up: free some space',
  EROFS: 'it is read-only: make it writable',
  EACCES: 'access was denied: make the folder readable and writable',
  EPERM: 'access was denied: make the folder readable and writable',
  EMFILE: 'too many files are open: raise the limit of open files',
  ENFILE: 'too many files are open: raise the limit of open files',
}

export const errorCode = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null

export const isMissing = (error: unknown): boolean => errorCode(error) === 'ENOENT'

/**
 * Runs file work, and says `StoreUnavailable` for whatever the operating system refused: it may pass, and it
 * never means that the artifact is missing. Everything else is passed on.
 */
export const orUnavailable = async <T>(root: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    const code = errorCode(error)
    if (code === null || !/^E[A-Z0-9]+$/.test(code)) throw error
    const sentence = sentences[code] ?? 'reading or writing it failed: check the disk'
    throw new StoreUnavailable(`artifacts in ${root}: ${sentence} (${code})`, { cause: code })
  }
}
