import type { ListPlace, ViewDocument, ViewStore } from '../domain/ports/viewStore.ts'

/** A page of several lists as if they were one. No document may stand in two of them. */
export const queryLists = async (
  views: Pick<ViewStore, 'query'>,
  view: { readonly name: string; readonly version: number },
  { terms, after, limit }: { readonly terms: readonly string[]; readonly after?: ListPlace | undefined; readonly limit: number },
): Promise<readonly ViewDocument[]> => {
  const place: { after?: ListPlace } = after === undefined ? {} : { after }
  const pages = await Promise.all(terms.map((term) => views.query(view.name, view.version, { term, limit, ...place })))
  return terms.length === 1 ? pages.flat() : pages.flat().toSorted(byPlace).slice(0, limit)
}

const byPlace = (left: ViewDocument, right: ViewDocument): number =>
  compared(left.sort, right.sort) || compared(left.key, right.key)

const compared = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)
