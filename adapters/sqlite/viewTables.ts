import type { ListPlace, ViewChange, ViewCheckpoint, ViewDocument } from '../../domain/ports/viewStore.ts'
import type { Database, Row } from './openDatabase.ts'
import { numberOf, textOf, textsOf } from './row.ts'

type View = { readonly view: number; readonly checkpoint: ViewCheckpoint; readonly documents: number }

const documentOf = (row: Row): ViewDocument => ({
  key: textOf(row, 0),
  value: textOf(row, 1),
  terms: textsOf(row, 2),
  sort: textOf(row, 3),
})

export type ViewTables = ReturnType<typeof viewTables>

/** Reads and writes of views. Writes belong inside a transaction of the caller's. */
export const viewTables = (database: Database) => {
  const view = database.prepare(
    'SELECT view, position, event_id, documents FROM views WHERE projection = ? AND version = ?',
  )
  const views = database.prepare(
    'SELECT projection, version, position, event_id, documents FROM views ORDER BY projection, version',
  )
  const insertView = database.prepare(
    'INSERT INTO views (projection, version, position, event_id, documents) VALUES (?, ?, ?, ?, 0) RETURNING view',
  )
  const moveView = database.prepare(
    'UPDATE views SET position = ?, event_id = ?, documents = documents + ? WHERE view = ?',
  )
  const deleteView = database.prepare('DELETE FROM views WHERE projection = ? AND version = ?')
  const document = database.prepare('SELECT key, value, terms, sort FROM documents WHERE view = ? AND key = ?')
  const insertDocument = database.prepare(
    'INSERT INTO documents (view, key, value, terms, sort) VALUES (?, ?, ?, ?, ?)',
  )
  const updateDocument = database.prepare(
    'UPDATE documents SET value = ?, terms = ?, sort = ? WHERE view = ? AND key = ?',
  )
  const deleteDocument = database.prepare('DELETE FROM documents WHERE view = ? AND key = ?')
  const insertTerm = database.prepare('INSERT OR IGNORE INTO terms (view, term, sort, key) VALUES (?, ?, ?, ?)')
  const deleteTerm = database.prepare('DELETE FROM terms WHERE view = ? AND term = ? AND sort = ? AND key = ?')
  // CROSS JOIN: the list is walked in its own order, whatever the planner believes about the sizes of the tables.
  const listed = (behind: string) => `
    SELECT documents.key, value, terms, documents.sort
      FROM terms CROSS JOIN documents ON documents.view = terms.view AND documents.key = terms.key
     WHERE terms.view = ? AND term = ? ${behind} ORDER BY terms.sort, terms.key LIMIT ?`
  const list = database.prepare(listed(''))
  const listBehind = database.prepare(listed('AND (terms.sort, terms.key) > (?, ?)'))
  const scanned = (behind: string) =>
    `SELECT key, value, terms, sort FROM documents WHERE view = ? ${behind} ORDER BY key LIMIT ?`
  const scan = database.prepare(scanned(''))
  const scanBehind = database.prepare(scanned('AND key > ?'))

  const find = (projection: string, version: number): View | null => {
    const [row] = view.rows(projection, version)
    if (row === undefined) return null
    return {
      view: numberOf(row, 0),
      checkpoint: { position: textOf(row, 1), eventId: textOf(row, 2) },
      documents: numberOf(row, 3),
    }
  }

  const documentIn = (number: number, key: string): ViewDocument | null => {
    const [row] = document.rows(number, key)
    return row === undefined ? null : documentOf(row)
  }

  const unlist = (number: number, { terms, sort, key }: ViewDocument): void => {
    for (const term of terms) deleteTerm.run(number, term, sort, key)
  }

  const put = (number: number, next: ViewDocument): number => {
    const { key, value, terms, sort } = next
    const before = documentIn(number, key)
    const termsText = JSON.stringify(terms)
    if (before === null) insertDocument.run(number, key, value, termsText, sort)
    else updateDocument.run(value, termsText, sort, number, key)
    const isListedSo = before !== null && before.sort === sort && JSON.stringify(before.terms) === termsText
    if (isListedSo) return 0
    if (before !== null) unlist(number, before)
    for (const term of terms) insertTerm.run(number, term, sort, key)
    return before === null ? 1 : 0
  }

  const remove = (number: number, key: string): number => {
    const before = documentIn(number, key)
    if (before === null) return 0
    unlist(number, before)
    deleteDocument.run(number, key)
    return -1
  }

  return {
    find,

    load: (projection: string, version: number, keys: readonly string[]): readonly ViewDocument[] => {
      const found = find(projection, version)
      if (found === null) return []
      return [...new Set(keys)].flatMap((key) => documentIn(found.view, key) ?? [])
    },

    create: (projection: string, version: number, { position, eventId }: ViewCheckpoint): number =>
      numberOf(insertView.rows(projection, version, position, eventId)[0] ?? [], 0),

    /** Applies the changes in their order and moves the checkpoint. */
    change: (number: number, to: ViewCheckpoint, changes: readonly ViewChange[]): void => {
      const grown = changes.reduce(
        (sum, change) => sum + (change.kind === 'put' ? put(number, change.document) : remove(number, change.key)),
        0,
      )
      moveView.run(to.position, to.eventId, grown, number)
    },

    query: (number: number, term: string, after: ListPlace | undefined, limit: number): readonly ViewDocument[] =>
      (after === undefined
        ? list.rows(number, term, limit)
        : listBehind.rows(number, term, after.sort, after.key, limit)
      ).map(documentOf),

    scan: (number: number, after: string | undefined, limit: number): readonly ViewDocument[] =>
      (after === undefined ? scan.rows(number, limit) : scanBehind.rows(number, after, limit)).map(documentOf),

    /** Takes the view's name from it. What it held stays until it is swept. */
    forget: (projection: string, version: number): void => {
      deleteView.run(projection, version)
    },

    list: () =>
      views.rows().map((row) => ({
        name: textOf(row, 0),
        version: numberOf(row, 1),
        checkpoint: { position: textOf(row, 2), eventId: textOf(row, 3) },
        documents: numberOf(row, 4),
      })),
  }
}
