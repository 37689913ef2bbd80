// Live events in figures: how late, how many, how dear a socket, and what a reader that reads nothing adds. Each server
// is a process of its own, and so is the bare one of `ws` that it is compared with. Needs a build: `npm run build`.
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { WebSocket } from 'ws'

const folder = mkdtempSync(join(tmpdir(), 'knovaryn-live-'))
const serverFile = fileURLToPath(new URL('liveServer.mjs', import.meta.url))
const print = (name, figures) => process.stdout.write(`${JSON.stringify({ name, ...figures })}\n`)
const rounded = (value, digits = 1) => Number(value.toFixed(digits))
const quantile = (values, part) => values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))]
const median = (values) => quantile(values, 0.5)

/** A server of its own; `ask` has it do something and answers what that came to. */
const started = async (kind, store = `sqlite:${join(folder, kind + Math.random())}`) => {
  const child = fork(serverFile, [kind, store], { execArgv: ['--expose-gc', '--no-warnings'] })
  const answers = new Map()
  let asked = 0
  const listening = new Promise((resolve) => child.on('message', ({ id, url, value }) => (url === undefined ? answers.get(id)?.(value) : resolve(url))))
  const url = await listening
  const ask = (what, given = {}) =>
    new Promise((resolve) => {
      asked += 1
      answers.set(asked, resolve)
      child.send({ id: asked, what, ...given })
    })
  return { url, ask, store, stop: () => new Promise((resolve) => child.on('exit', resolve).kill()) }
}

const opened = (url, query = '', onText = () => {}) =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/events/live${query}`, { perMessageDeflate: false })
    let first = true
    socket.on('error', reject)
    socket.on('message', (data) => {
      onText(data)
      if (first) resolve(socket)
      first = false
    })
  })
const openedMany = async (url, count, query, onText) => {
  const sockets = []
  while (sockets.length < count) {
    const some = Array.from({ length: Math.min(100, count - sockets.length) }, (_, nth) => opened(url, query(sockets.length + nth), onText))
    sockets.push(...(await Promise.all(some)))
  }
  return sockets
}
const closeAll = (sockets) => sockets.forEach((socket) => socket.terminate())

/** 100 sockets, each on one of 100 jobs; 1 000 events a second in all, appended by the server or beside it. */
const latency = async (where) => {
  const server = await started('live')
  const jobs = await server.ask('jobs', { count: 100 })
  const late = []
  const onText = (data) => {
    const sentAt = /"message":"(\d+(?:\.\d+)?)/.exec(data)?.[1]
    if (sentAt !== undefined) late.push(performance.timeOrigin + performance.now() - Number(sentAt))
  }
  const sockets = await openedMany(server.url, 100, (nth) => `?jobId=${jobs[nth]}`, onText)
  const writer = where === 'in the server' ? server : await started('writer', server.store)
  await writer.ask('stream', { jobs: 100, perSecond: 1_000, seconds: 10 })
  await sleep(500)
  print(`append to delivered, appended ${where}`, {
    events: late.length,
    p50Ms: rounded(median(late)),
    p99Ms: rounded(quantile(late, 0.99)),
    maxMs: rounded(Math.max(...late)),
    limit: 'p99 < 25 ms',
  })
  closeAll(sockets)
  if (writer !== server) await writer.stop()
  await server.stop()
}

/** How many frames a second reach sockets that follow everything. */
const deliveries = async (kind, { sockets: count, events }) => {
  const server = await started(kind)
  if (kind === 'live') await server.ask('jobs', { count: 1 })
  let got = 0
  let all = () => {}
  const done = new Promise((resolve) => (all = resolve))
  const sockets = await openedMany(server.url, count, () => '', (data) => {
    if (data.length < 100) return
    got += 1
    if (got === count * events) all()
  })
  const since = performance.now()
  await server.ask('burst', { events })
  await done
  const perSecond = (count * events) / ((performance.now() - since) / 1_000)
  closeAll(sockets)
  await server.stop()
  return perSecond
}

const throughput = async (shape) => {
  const ratios = []
  const best = { live: 0, bare: 0 }
  for (let round = 0; round < 3; round += 1) {
    const live = await deliveries('live', shape)
    const bare = await deliveries('bare', shape)
    ratios.push(live / bare)
    best.live = Math.max(best.live, live)
    best.bare = Math.max(best.bare, bare)
  }
  print(`deliveries to ${shape.sockets} sockets that follow everything`, {
    perSecond: Math.round(best.live),
    barePerSecond: Math.round(best.bare),
    ratio: rounded(median(ratios), 2),
    limit: 'ratio >= 0.5',
  })
}

/** What the log costs that one socket reads from its start. */
const catchUp = async (events) => {
  const server = await started('live')
  await server.ask('jobs', { count: 1 })
  await server.ask('burst', { events })
  let got = 0
  const since = performance.now()
  await new Promise((resolve) => {
    void opened(server.url, '?after=start', (data) => {
      got += 1
      if (got > events && data.includes('caught_up')) resolve()
    })
  })
  print(`catching up with ${events} events`, { perSecond: Math.round(events / ((performance.now() - since) / 1_000)) })
  await server.stop()
}

const idleBytes = async (kind, count) => {
  const server = await started(kind)
  if (kind === 'live') await server.ask('jobs', { count: 1 })
  const warm = await openedMany(server.url, 200, () => '')
  closeAll(warm)
  await sleep(300)
  const before = await server.ask('memory')
  const sockets = await openedMany(server.url, count, () => '')
  await sleep(1_000)
  const after = await server.ask('memory')
  closeAll(sockets)
  await server.stop()
  return { heap: (after.heap - before.heap) / count, resident: (after.resident - before.resident) / count }
}

const idle = async (count) => {
  const [live, bare] = [await idleBytes('live', count), await idleBytes('bare', count)]
  print(`an idle socket of ${count}`, {
    bytes: Math.round(live.resident),
    bareBytes: Math.round(bare.resident),
    ratio: rounded(live.resident / bare.resident, 2),
    heapBytes: Math.round(live.heap),
    bareHeapBytes: Math.round(bare.heap),
    limit: 'ratio <= 1.5',
  })
}

/** A client that shakes hands, asks for everything and then never reads. */
const deaf = (url) =>
  new Promise((resolve) => {
    const { port } = new URL(url)
    const socket = connect(Number(port), '127.0.0.1', () => {
      const key = 'AAAAAAAAAAAAAAAAAAAAAA=='
      const head = ['GET /v1/events/live?after=start HTTP/1.1', `Host: 127.0.0.1:${port}`, 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${key}`]
      socket.pause()
      socket.write(`${head.join('\r\n')}\r\n\r\n`)
      resolve(socket)
    })
  })

/** The same minute with and without a client that reads nothing. */
const deafBytes = async (seconds, isThere) => {
  const server = await started('live')
  await server.ask('jobs', { count: 100 })
  await server.ask('burst', { events: 20_000 })
  const before = await server.ask('memory')
  const socket = isThere ? await deaf(server.url) : null
  await server.ask('stream', { jobs: 100, perSecond: 500, seconds })
  const after = await server.ask('memory')
  socket?.destroy()
  await server.stop()
  return after.resident - before.resident
}

const slow = async (seconds) => {
  const [with_, without] = [await deafBytes(seconds, true), await deafBytes(seconds, false)]
  print(`a client that reads nothing for ${seconds} s`, { addedBytes: with_ - without, withBytes: with_, withoutBytes: without, limit: '< 2 MB' })
}

const parts = {
  latency: async () => {
    await latency('in the server')
    await latency('by another process')
  },
  throughput: async () => {
    await throughput({ sockets: 1, events: 20_000 })
    await throughput({ sockets: 10, events: 10_000 })
    await throughput({ sockets: 100, events: 2_000 })
  },
  catchUp: () => catchUp(20_000),
  idle: () => idle(2_000),
  slow: () => slow(Number(process.env['SECONDS'] ?? 60)),
}
const wanted = process.argv.slice(2)
try {
  for (const [name, run] of Object.entries(parts)) if (wanted.length === 0 || wanted.includes(name)) await run()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
