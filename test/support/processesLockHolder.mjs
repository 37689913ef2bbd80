// Keeps the write lock of a SQLite file: node processesLockHolder.mjs FILE MILLISECONDS
import Database from 'better-sqlite3'
import { setTimeout as sleep } from 'node:timers/promises'

const [file, forMs] = process.argv.slice(2)
const database = new Database(file, { timeout: 10_000 })
database.exec('BEGIN IMMEDIATE')
process.stdout.write('locked\n')
await sleep(Number(forMs))
database.exec('ROLLBACK')
process.stdout.write('released\n')
database.close()
