// A server in its own process for live.mjs: the real one over SQLite, a writer beside it, or a bare one of `ws`.
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocketServer } from 'ws'
import { memoryArtifactStore } from '../../dist/adapters/memory/memoryArtifactStore.js'
import { sqliteStore } from '../../dist/adapters/sqlite/sqliteStore.js'
import { sha256 } from '../../dist/adapters/system/sha256.js'
import { systemClock } from '../../dist/adapters/system/systemClock.js'
import { systemRandom } from '../../dist/adapters/system/systemRandom.js'
import { jobIdOf, jobStream } from '../../dist/domain/ids.js'
import { chainStart, seal } from '../../dist/domain/seal.js'
import { serverOf } from '../../dist/server/serve.js'
import { silentTelemetry } from '../../dist/server/telemetry.js'
import { workplace } from '../../dist/server/workplace.js'

const [kind, store] = process.argv.slice(2)
const message = 'x'.repeat(200)
const told = (parts) => `${performance.timeOrigin + performance.now()} ${message}`.slice(0, 200) + parts

/** Appends to jobs by their number, whoever else may have done so before. */
const writing = (events) => {
  const jobs = new Map()
  const placeOf = async (nth) => {
    const known = jobs.get(nth)
    if (known !== undefined) return known
    const jobId = jobIdOf('default', `job ${nth}`, sha256)
    const [last] = await events.readStream(jobStream(jobId), { direction: 'backwards', limit: 1 })
    const place = { jobId, stream: jobStream(jobId), revision: last?.revision ?? -1, hash: last?.hash ?? chainStart(jobStream(jobId), sha256) }
    jobs.set(nth, place)
    return place
  }
  return async (nth, count = 1) => {
    const place = await placeOf(nth)
    const unsealed = Array.from({ length: count }, (_, index) => ({
      stream: place.stream,
      revision: place.revision + 1 + index,
      type: 'JobLogged',
      schemaVersion: 1,
      recordedAt: new Date().toISOString(),
      data: JSON.stringify({ level: 'info', message: told('') }),
      meta: JSON.stringify({ projectId: 'default', actor: 'worker:bench', commandId: `c${place.revision + 1 + index}` }),
    }))
    const sealed = seal(unsealed, place.hash, sha256)
    const expected = place.revision === -1 ? 'no-stream' : place.revision
    place.revision += count
    place.hash = sealed.at(-1).hash
    await events.append(place.stream, sealed, expected)
    return place.jobId
  }
}

/** So many appends a second, of one event each, job after job. */
const stream = async (append, { jobs, perSecond, seconds }) => {
  const since = performance.now()
  const open = new Set()
  for (let made = 0; made < perSecond * seconds; ) {
    const due = Math.min(perSecond * seconds, Math.floor(((performance.now() - since) / 1_000) * perSecond))
    for (; made < due; made += 1) {
      const one = append(made % jobs).finally(() => open.delete(one))
      open.add(one)
    }
    await sleep(1)
  }
  await Promise.all(open)
}

const memory = async () => {
  for (let round = 0; round < 5; round += 1) {
    globalThis.gc()
    await sleep(50)
  }
  const { heapUsed, rss, external } = process.memoryUsage()
  return { heap: heapUsed + external, resident: rss }
}

const live = async () => {
  const clock = systemClock()
  const stores = await sqliteStore(store.slice('sqlite:'.length), clock)
  const append = writing(stores.events)
  const doing = {
    jobs: async ({ count }) => {
      const made = []
      for (let nth = 0; nth < count; nth += 1) made.push(await append(nth))
      return made
    },
    stream: (given) => stream(append, given),
    burst: async ({ events }) => {
      for (let made = 0; made < events; made += 100) await append(0, Math.min(100, events - made))
    },
    memory,
  }
  if (kind === 'writer') return { url: '', doing }
  const place = workplace({
    ...stores, artifacts: memoryArtifactStore(sha256), clock, random: systemRandom(), sha256, telemetry: silentTelemetry,
    definitions: [], provider: () => null, ownPrices: () => [], providerLimits: () => ({}), callTimeoutMs: 1_000,
  })
  const server = await serverOf(place, { fault: (what, error) => console.error(what, error) })
  return { url: await server.listen({ host: '127.0.0.1', port: 0 }), doing }
}

/** What `ws` alone does: sends the same frame to all, and lets others run as often as an append does. */
const bare = async () => {
  const http = createServer()
  const sockets = new WebSocketServer({ server: http, perMessageDeflate: false })
  sockets.on('connection', (socket) => {
    socket.on('error', () => socket.terminate())
    socket.send(JSON.stringify({ kind: 'caught_up', position: '0000000000000001' }))
  })
  await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve))
  const event = {
    type: 'JobLogged', data: { level: 'info', message: told('') }, id: '0'.repeat(36), schemaVersion: 1, jobId: '0'.repeat(32), revision: 1,
    position: '0000000000000001', recordedAt: new Date().toISOString(), hash: '0'.repeat(64), meta: { projectId: 'default', actor: 'worker:bench', commandId: 'c1' },
  }
  const burst = async ({ events }) => {
    for (let sent = 0; sent < events; sent += 1) {
      const frame = JSON.stringify({ kind: 'event', position: '0000000000000001', event })
      for (const socket of sockets.clients) socket.send(frame)
      if (sent % 100 === 99) await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { url: `http://127.0.0.1:${http.address().port}`, doing: { burst, memory } }
}

const { url, doing } = await (kind === 'bare' ? bare() : live())
process.on('message', ({ id, what, ...given }) => void doing[what](given).then((value) => process.send({ id, value })))
process.on('disconnect', () => process.exit(0))
process.send({ url })
