// One verb over the compiled SQLite adapter, in a process of its own: see elsewhere.ts.
import { once } from 'node:events'
import { join } from 'node:path'

const [compiled, verb, folder, ...options] = process.argv.slice(2)
const load = (file) => import(join(compiled, 'adapters', file))
const { systemClock } = await load('system/systemClock.js')
const { sha256 } = await load('system/sha256.js')
const { sqliteStore } = await load('sqlite/sqliteStore.js')
const { sqliteEventStore } = await load('sqlite/sqliteEventStore.js')
const { openPlainDatabase } = await load('sqlite/openDatabase.js')

const tell = (message) => new Promise((resolve) => process.send(message, resolve))
const told = () => once(process, 'message')
const clock = systemClock()

const event = (stream, revision, writer, number) => {
  const data = JSON.stringify({ writer, number })
  const hash = sha256(`${stream} ${revision} ${data}`)
  const recordedAt = '2026-01-01T00:00:00.000Z'
  const id = hash.slice(0, 32)
  return { id, stream, revision, type: 'JobLogged', schemaVersion: 1, recordedAt, data, meta: '{}', hash }
}

/** Appends one event to whatever the stream holds, however often others are faster. */
const land = async (events, stream, writer, number) => {
  for (;;) {
    const [last] = await events.readStream(stream, { direction: 'backwards', limit: 1 })
    const revision = last === undefined ? 0 : last.revision + 1
    const sealed = event(stream, revision, writer, number)
    try {
      await events.append(stream, [sealed], revision === 0 ? 'no-stream' : revision - 1)
      return sealed.id
    } catch (error) {
      if (error.code !== 'revision_conflict') throw error
    }
  }
}

const verbs = {
  /** Announces a worker and lives on. */
  announce: async (workerId) => {
    const { presence } = await sqliteStore(folder, clock)
    await presence.announce(workerId)
    await tell('announced')
    await told()
  },

  /** Appends `count` events, every other one to a stream that all share, and follows the log to `total` events. */
  writeAndFollow: async (writer, count, total) => {
    const events = await sqliteEventStore(join(folder, 'log.db'), clock)
    await tell('ready')
    await told()
    const seen = []
    const follow = async () => {
      const { signal } = new AbortController()
      for await (const delivery of events.subscribe({ after: '', signal })) {
        if (delivery.kind === 'event') seen.push(delivery.event.id)
        if (seen.length >= Number(total) && delivery.kind === 'caughtUp') return
      }
    }
    const write = async () => {
      const landed = []
      for (let number = 0; number < Number(count); number += 1) {
        landed.push(await land(events, number % 2 === 0 ? 'job-shared' : `job-${writer}`, writer, number))
      }
      return landed
    }
    const [landed] = await Promise.all([write(), follow()])
    await tell({ landed, seen })
    await events.close()
  },

  /** Appends without end, sixteen at a time, and tells each event that was acknowledged. */
  appendUntilKilled: async (writer) => {
    const events = await sqliteEventStore(join(folder, 'log.db'), clock)
    const line = async (stream) => {
      for (let number = 0; ; number += 1) await tell(await land(events, stream, writer, number))
    }
    await Promise.all(Array.from({ length: 16 }, (_, index) => line(`job-${writer}-${index}`)))
  },

  /** Holds the write lock of one database from `held` until told, as a backup or a hanging tool does. */
  holdWriteLock: async (name) => {
    const database = openPlainDatabase(join(folder, name))
    database.exec('BEGIN IMMEDIATE')
    await tell('held')
    await told()
    database.exec('ROLLBACK')
    database.close()
    await tell('released')
  },

  /** Keeps committing to a view until told, and tells how far it came. */
  commitViews: async (projection) => {
    const { views } = await sqliteStore(folder, clock)
    let isTold = false
    process.once('message', () => {
      isTold = true
    })
    let committed = 0
    while (!isTold) {
      const from = await views.checkpoint(projection, 1)
      const number = from === null ? 1 : Number(from.position) + 1
      const to = { position: String(number).padStart(9, '0'), eventId: `event-${number}` }
      const document = { key: `key-${number}`, value: `${number}`, terms: ['all'], sort: to.position }
      if (await views.commit(projection, 1, { from, to }, [{ kind: 'put', document }])) committed += 1
      if (committed === 20) await tell('going')
      await clock.sleep(1)
    }
    await tell({ committed })
    await views.close()
  },
}

await verbs[verb](...options)
process.disconnect()
