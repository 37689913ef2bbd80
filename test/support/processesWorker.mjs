// A worker on the built engine: node processesWorker.mjs DIST '{"config":{…},"work":{…}}'
// SIGTERM drains it; it exits with 0 once it is drained, or once nothing is left to do.
const [dist, told] = process.argv.slice(2)
const { config, work } = JSON.parse(told)
const { openWorkplace } = await import(`${dist}/server/compose.js`)
const { Config } = await import(`${dist}/server/config.js`)

const log = ({ level, message }) => process.stderr.write(`${new Date().toISOString()} ${level.padEnd(5)} ${message}\n`)
const stop = new AbortController()
process.on('SIGTERM', () => {
  process.stderr.write('draining\n')
  stop.abort()
})
const place = await openWorkplace(Config.parse(config), { env: process.env, log })
process.stderr.write('working\n')
await place.work(work, stop.signal)
await place.close()
process.stderr.write('drained\n')
process.exit(0)
