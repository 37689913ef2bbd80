import { bandIndex } from './sift/bandIndex.ts'
import { shinglesOf, similarityOf } from './sift/shingles.ts'
import { sketching } from './sift/sketch.ts'
import type { Example } from './stageResults.ts'

/** Texts of which this much of the shingles, or more, is the same say the same. */
const similarityMin = 0.8

/** Question and answer as they are compared. */
type Said = Pick<Example, 'question' | 'answer'>

type Nearest<Known> = { readonly example: Known; readonly similarity: number }

/**
 * Tells of each example, one after the other, which earlier one it repeats for the most part, or null. What repeats
 * another is not compared with. Examples of two families with different questions never repeat each other.
 */
export const nearDuplicates = <Known extends Pick<Example, 'family'>>(): ((example: Known, said: Said) => Nearest<Known> | null) => {
  const { hash, bandsOf } = sketching()
  const sharing = bandIndex()
  const kept: { readonly example: Known; readonly question: string; readonly shingles: Uint32Array }[] = []

  return (example, { question, answer }) => {
    const shingles = shinglesOf(`${question} ${answer}`, hash)
    const bands = bandsOf(shingles)
    let nearest: Nearest<Known> | null = null
    for (const nth of sharing.found(bands)) {
      const other = kept[nth]
      if (other === undefined || (other.example.family !== example.family && other.question !== question)) continue
      const similarity = similarityOf(shingles, other.shingles)
      if (similarity >= similarityMin && similarity > (nearest?.similarity ?? 0)) nearest = { example: other.example, similarity }
    }
    if (nearest !== null) return nearest
    kept.push({ example, question, shingles })
    sharing.add(bands)
    return null
  }
}
