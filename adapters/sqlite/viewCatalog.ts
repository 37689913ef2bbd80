import type { ViewCheckpoint } from '../../domain/ports/viewStore.ts'
import type { Database, Row } from './openDatabase.ts'
import { numberOf, textOf } from './row.ts'
import { viewTableRemoval, viewTableSchema } from './viewSchema.ts'
import { viewTable } from './viewTable.ts'
import type { ViewTable } from './viewTable.ts'

export type StoredView = { readonly number: number; readonly checkpoint: ViewCheckpoint; readonly table: ViewTable }

const checkpointOf = (row: Row, column: number): ViewCheckpoint => ({
  position: textOf(row, column),
  eventId: textOf(row, column + 1),
})

export type ViewCatalog = ReturnType<typeof viewCatalog>

/** The views by name and version. Every verb belongs inside a transaction of the caller's. */
export const viewCatalog = (database: Database) => {
  const select = database.prepare('SELECT view, position, event_id FROM views WHERE projection = ? AND version = ?')
  const insert = database.prepare(
    'INSERT INTO views (projection, version, position, event_id, documents) VALUES (?, ?, ?, ?, 0) RETURNING view',
  )
  const move = database.prepare(
    'UPDATE views SET position = ?, event_id = ?, documents = documents + ? WHERE view = ?',
  )
  const remove = database.prepare('DELETE FROM views WHERE projection = ? AND version = ? RETURNING view')
  const all = database.prepare(
    'SELECT projection, version, position, event_id, documents FROM views ORDER BY projection, version',
  )
  // By number, which is never given again: statements stay right for as long as the view is found.
  const tables = new Map<number, ViewTable>()

  const tableOf = (number: number): ViewTable => {
    const table = tables.get(number) ?? viewTable(database, number)
    tables.set(number, table)
    return table
  }

  return {
    find: (projection: string, version: number): StoredView | null => {
      const [row] = select.rows(projection, version)
      if (row === undefined) return null
      const number = numberOf(row, 0)
      return { number, checkpoint: checkpointOf(row, 1), table: tableOf(number) }
    },

    create: (projection: string, version: number, checkpoint: ViewCheckpoint): StoredView => {
      const [row] = insert.rows(projection, version, checkpoint.position, checkpoint.eventId)
      const number = numberOf(row, 0)
      database.exec(viewTableSchema(number))
      // Not kept: should the transaction fail, this number is given again.
      return { number, checkpoint, table: viewTable(database, number) }
    },

    move: ({ number }: StoredView, to: ViewCheckpoint, grownBy: number): void => {
      move.run(to.position, to.eventId, grownBy, number)
    },

    drop: (projection: string, version: number): void => {
      const [row] = remove.rows(projection, version)
      if (row === undefined) return
      tables.delete(numberOf(row, 0))
      database.exec(viewTableRemoval(numberOf(row, 0)))
    },

    list: () =>
      all.rows().map((row) => ({
        name: textOf(row, 0),
        version: numberOf(row, 1),
        checkpoint: checkpointOf(row, 2),
        documents: numberOf(row, 4),
      })),
  }
}
