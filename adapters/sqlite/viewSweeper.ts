import type { Database } from './openDatabase.ts'
import { numberOf } from './row.ts'

/** Removes a slice of what forgotten views held. Answers whether there may be more. */
export const viewSweeper = (database: Database) => {
  // The numbers are found by jumps over the index, not by a walk through every document.
  const orphanIn = (table: string) =>
    database.prepare(`
      WITH RECURSIVE held (view) AS (
        SELECT min(view) FROM ${table}
        UNION ALL SELECT (SELECT min(view) FROM ${table} WHERE view > held.view) FROM held WHERE held.view IS NOT NULL
      )
      SELECT view FROM held WHERE view IS NOT NULL AND view NOT IN (SELECT view FROM views) LIMIT 1`)
  const tables = [
    {
      orphan: orphanIn('documents'),
      remove: database.prepare(
        'DELETE FROM documents WHERE rowid IN (SELECT rowid FROM documents WHERE view = ? LIMIT ?)',
      ),
    },
    {
      orphan: orphanIn('terms'),
      remove: database.prepare(
        `DELETE FROM terms WHERE (view, term, sort, key) IN
           (SELECT view, term, sort, key FROM terms WHERE view = ? ORDER BY view, term, sort, key LIMIT ?)`,
      ),
    },
  ]

  return (slice: number): boolean => {
    for (const { orphan, remove } of tables) {
      const [row] = orphan.rows()
      if (row === undefined) continue
      remove.run(numberOf(row, 0), slice)
      return true
    }
    return false
  }
}
