import type { ListPlace, ViewChange, ViewDocument } from '../../domain/ports/viewStore.ts'
import type { Database, Row } from './openDatabase.ts'
import { textOf, textsOf } from './row.ts'

/** The documents of one view and the lists they stand in. */
export type ViewTable = {
  document(key: string): ViewDocument | null
  /** Documents of one list, behind a place. */
  list(term: string, after: ListPlace | undefined, limit: number): readonly ViewDocument[]
  /** Documents in order of key, behind a key. */
  scan(after: string | undefined, limit: number): readonly ViewDocument[]
  /** Answers by how many documents the view has grown. */
  apply(change: ViewChange): number
}

const documentOf = (row: Row): ViewDocument => ({
  key: textOf(row, 0),
  value: textOf(row, 1),
  terms: textsOf(row, 2),
  sort: textOf(row, 3),
})

export const viewTable = (database: Database, view: number): ViewTable => {
  const [documents, terms] = [`documents_${view}`, `terms_${view}`]
  const find = database.prepare(`SELECT key, value, terms, sort FROM ${documents} WHERE key = ?`)
  const insert = database.prepare(`INSERT INTO ${documents} (key, value, terms, sort) VALUES (?, ?, ?, ?)`)
  const update = database.prepare(`UPDATE ${documents} SET value = ?, terms = ?, sort = ? WHERE key = ?`)
  const remove = database.prepare(`DELETE FROM ${documents} WHERE key = ?`)
  const enlist = database.prepare(`INSERT OR IGNORE INTO ${terms} (term, sort, key) VALUES (?, ?, ?)`)
  const unlist = database.prepare(`DELETE FROM ${terms} WHERE term = ? AND sort = ? AND key = ?`)
  // CROSS JOIN: the list is walked in its own order, whatever the planner believes about the sizes of the tables.
  const listed = (behind: string) =>
    database.prepare(
      `SELECT ${documents}.key, value, terms, ${documents}.sort
         FROM ${terms} CROSS JOIN ${documents} ON ${documents}.key = ${terms}.key
        WHERE term = ? ${behind} ORDER BY ${terms}.sort, ${terms}.key LIMIT ?`,
    )
  const list = listed('')
  const listBehind = listed(`AND (${terms}.sort, ${terms}.key) > (?, ?)`)
  const scan = database.prepare(`SELECT key, value, terms, sort FROM ${documents} ORDER BY key LIMIT ?`)
  const scanBehind = database.prepare(
    `SELECT key, value, terms, sort FROM ${documents} WHERE key > ? ORDER BY key LIMIT ?`,
  )

  const document = (key: string): ViewDocument | null => {
    const [row] = find.rows(key)
    return row === undefined ? null : documentOf(row)
  }

  const unlistAll = ({ terms: before, sort, key }: ViewDocument): void => {
    for (const term of before) unlist.run(term, sort, key)
  }

  const put = ({ key, value, terms: next, sort }: ViewDocument): number => {
    const before = document(key)
    const text = JSON.stringify(next)
    if (before === null) insert.run(key, value, text, sort)
    else update.run(value, text, sort, key)
    if (before !== null && before.sort === sort && JSON.stringify(before.terms) === text) return 0
    if (before !== null) unlistAll(before)
    for (const term of next) enlist.run(term, sort, key)
    return before === null ? 1 : 0
  }

  const removeKey = (key: string): number => {
    const before = document(key)
    if (before === null) return 0
    unlistAll(before)
    remove.run(key)
    return -1
  }

  return {
    document,
    list: (term, after, limit) => {
      const rows = after === undefined ? list.rows(term, limit) : listBehind.rows(term, after.sort, after.key, limit)
      return rows.map(documentOf)
    },
    scan: (after, limit) => {
      const rows = after === undefined ? scan.rows(limit) : scanBehind.rows(after, limit)
      return rows.map(documentOf)
    },
    apply: (change) => (change.kind === 'put' ? put(change.document) : removeKey(change.key)),
  }
}
