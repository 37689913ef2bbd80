import { canonical } from '../../domain/canonical.ts'
import { ForbiddenError, InvalidInputError } from '../../domain/errors.ts'
import type { Submission } from '../engine.ts'
import type { Put } from './puttingOnce.ts'

/** Files of a submission that are sent along with it; what is over that is stored first, file by file. */
const textBytesMax = 1_048_576

/**
 * The submission as JSON text. Files that are text go along as such while they are small together, so that a refused
 * submission leaves nothing; all others are stored in the project and named by their hash.
 */
export const submissionBody = async (submission: Submission, put: Put): Promise<string> => {
  const { files = [], provider = null, ...rest } = submission
  refuseBaseUrl(provider)
  const named = []
  let left = textBytesMax
  for (const { name, content } of files) {
    const text = content.length > left ? null : textOf(content)
    // As JSON it may be longer than it is.
    const bytes = text === null ? 0 : new TextEncoder().encode(JSON.stringify(text)).length
    if (text === null || bytes > left) {
      named.push({ name, sha256: (await put(submission.projectId ?? 'default', content)).sha256 })
    } else {
      left -= bytes
      named.push({ name, text })
    }
  }
  return jsonText({ ...rest, provider: provider === null ? null : { name: provider.name }, files: named })
}

/** Raises `InvalidInputError` for what JSON cannot say. */
export const jsonText = (value: unknown): string => {
  try {
    return canonical(value)
  } catch (error) {
    throw new InvalidInputError(`not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Null where bytes would not come back as they are. */
const textOf = (content: Uint8Array): string | null => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)
  } catch {
    return null
  }
}

const refuseBaseUrl = (provider: Submission['provider']): void => {
  const { name, baseUrl = null } = provider ?? { name: '' }
  if (baseUrl === null) return
  throw new ForbiddenError(
    'a base URL is part of the configuration of the server: name the provider alone',
    { provider: name },
    'forbidden_base_url',
  )
}
