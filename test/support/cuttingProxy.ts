import { connect, createServer, type AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { until } from './until.ts'

/**
 * A line to the server that is cut, wherever in a frame that falls, once so many bytes have come down it: `bytesOf` says
 * how many for each connection in turn, and null for one that is never cut.
 */
export const cuttingProxy = async (url: string, bytesOf: (connection: number) => number | null) => {
  let [connections, cuts] = [0, 0]
  const open = new Set<() => void>()
  const proxy = createServer((near) => {
    const far = connect(Number(new URL(url).port), '127.0.0.1')
    const allowed = bytesOf(connections)
    connections += 1
    let bytes = 0
    const cut = (): void => {
      open.delete(cut)
      near.destroy()
      far.destroy()
    }
    open.add(cut)
    for (const end of [near, far]) end.on('error', cut).on('close', cut)
    near.on('data', (data) => far.write(data))
    far.on('data', (data: Buffer) => {
      const rest = allowed === null ? data : data.subarray(0, Math.max(0, allowed - bytes))
      bytes += data.length
      near.write(rest)
      if (allowed === null || bytes < allowed) return
      cuts += 1
      near.end(() => cut())
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const cut of open) cut()
    proxy.close()
  })
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cuts: () => cuts,
    /** Cuts whoever is connected, at this moment. */
    cutAll: () => [...open].forEach((cut) => cut()),
    cutTimes: (count: number) => until(`${count} cuts`, () => cuts >= count),
  }
}
