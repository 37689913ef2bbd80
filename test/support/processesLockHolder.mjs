// Keeps the write lock of a SQLite file: node processesLockHolder.mjs FILE MILLISECONDS [TIMES]
// More than once it leaves a tenth of that between two holds.
import Database from 'better-sqlite3'
import { setTimeout as sleep } from 'node:timers/promises'

const [file, forMs, times = '1'] = process.argv.slice(2)
const database = new Database(file, { timeout: 10_000 })
for (let left = Number(times); left > 0; left -= 1) {
  database.exec('BEGIN IMMEDIATE')
  process.stdout.write('locked\n')
  await sleep(Number(forMs))
  database.exec('ROLLBACK')
  process.stdout.write('released\n')
  await sleep(Number(forMs) / 10)
}
database.close()
