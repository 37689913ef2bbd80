import { ArtifactRef, type Content, type JobEvent } from '../../domain/job/events.ts'

/** What an event needs from the artifact store. Only a price profile is named without its size. */
export type Reference = { readonly sha256: string; readonly bytes?: number; readonly mediaType: string }

/** Every artifact that the event refers to, itself or inside the JSON that it holds. */
export const referencesOf = (event: JobEvent): readonly Reference[] => {
  const references = contentsOf(event).flatMap((content): readonly Reference[] =>
    'artifact' in content ? [content.artifact] : referencesIn(content.json),
  )
  const prices = event.type === 'JobSubmitted' ? event.data.priceProfile : null
  return prices === null ? references : [...references, { sha256: prices.sha256, mediaType: 'application/json' }]
}

const contentsOf = (event: JobEvent): readonly Content[] => {
  switch (event.type) {
    case 'JobSubmitted':
      return [event.data.input]
    case 'JobSucceeded':
      return [event.data.output]
    case 'CheckpointRecorded':
      return [event.data.value]
    case 'StageCompleted':
      return [event.data.result]
    case 'ExamplesAccepted':
      return [event.data.examples]
    case 'ProviderCallSettled':
      return [event.data.answer]
    default:
      return []
  }
}

/** Every value in the JSON that has exactly the shape of a reference. */
export const referencesIn = (json: unknown): readonly Reference[] => {
  const found: Reference[] = []
  // By hand rather than by recursion: a hostile document may be nested deeper than the stack.
  const left: unknown[] = [json]
  while (left.length > 0) {
    const value = left.pop()
    if (value === null || typeof value !== 'object') continue
    const reference = 'sha256' in value ? ArtifactRef.safeParse(value) : null
    if (reference?.success === true) found.push(reference.data)
    else for (const child of Object.values(value)) left.push(child)
  }
  return found
}
