import { lookup } from 'node:dns/promises'
import { BlockList, isIPv6 } from 'node:net'
import { InvalidInputError } from '../../domain/errors.ts'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

export const isLoopback = (address: string): boolean => loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')

/**
 * The one address that a host's name stands for, so that what is checked is what is listened on. Raises
 * `InvalidInputError` for a name that stands for none.
 */
export const addressOf = async (host: string): Promise<string> => {
  const found = await lookup(host.replace(/^\[(.*)\]$/, '$1'), { all: true }).catch(() => [])
  const chosen = found.find(({ family }) => family === 4) ?? found[0]
  if (chosen !== undefined) return chosen.address
  throw new InvalidInputError(`--host ${JSON.stringify(host)} is no address of this machine and no name of one`, { option: '--host', host })
}

/** The address as it stands in a URL. */
export const inUrl = (address: string): string => (isIPv6(address) ? `[${address}]` : address)
