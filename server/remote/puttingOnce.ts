/** Stores a file in a project. */
export type Put = (projectId: string, content: Uint8Array) => Promise<{ readonly sha256: string }>

/** Sends each file to a project once: who submits has looked for the job and estimated it before, and files may be large. */
export const puttingOnce = (put: Put): Put => {
  const sent = new WeakMap<Uint8Array, { readonly projectId: string; readonly sha256: string }>()
  return async (projectId, content) => {
    const before = sent.get(content)
    if (before?.projectId === projectId) return before
    const { sha256 } = await put(projectId, content)
    const stored = { projectId, sha256 }
    sent.set(content, stored)
    return stored
  }
}
