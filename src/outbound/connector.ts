/**
 * Opens connections. The host is resolved once, every address is checked, and the connection goes to a
 * checked address only. A name that resolves to another address the next time (DNS rebinding) and a redirect
 * therefore bypass nothing: each new connection is checked here.
 */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { buildConnector } from 'undici'
import type { OutboundPolicy } from './destination.js'
import { checkAddress, hostOf, OutboundRefused, portOf } from './destination.js'
import { loadUndici } from './packages.js'

/** Time for one address to accept the connection, TLS included. The total allows for two addresses. */
const OUTBOUND_CONNECT_MS_MAX = 4_000
/** Addresses of one host that are tried. */
export const OUTBOUND_ADDRESSES_MAX = 4

/** Resolves a host name to all its addresses. */
export type Resolver = (host: string) => Promise<readonly string[]>

export const systemResolver: Resolver = async (host) => (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address)

/** Connector for undici's `connect` option. */
export function guardedConnector(policy: OutboundPolicy, resolver: Resolver, checksCertificate: boolean): buildConnector.connector {
  const connect = loadUndici().buildConnector({ timeout: OUTBOUND_CONNECT_MS_MAX, rejectUnauthorized: checksCertificate })
  return (options, callback) => {
    void checkedAddresses(policy, resolver, options).then(
      (addresses) => tryEach(connect, options, addresses, callback),
      (error: Error) => callback(error, null),
    )
  }
}

/**
 * A single forbidden address refuses the whole host: a host that mixes forbidden and allowed addresses aims
 * at the forbidden one.
 */
async function checkedAddresses(policy: OutboundPolicy, resolver: Resolver, options: buildConnector.Options): Promise<readonly string[]> {
  const host = hostOf(options)
  const port = portOf(options)
  const addresses = isIP(host) === 0 ? await Promise.race([resolver(host), tooLate()]) : [host]
  if (addresses.length === 0) throw new OutboundRefused('the host has no address')
  for (const address of addresses) checkAddress(policy, host, address, port)
  return addresses.slice(0, OUTBOUND_ADDRESSES_MAX)
}

/**
 * Bounds the name resolution, because a resolver may never respond. The waiting request has its own time
 * limit; this limit is the connection's.
 */
async function tooLate(): Promise<never> {
  await setTimeout(OUTBOUND_CONNECT_MS_MAX, undefined, { ref: false })
  throw new Error('the name was not resolved in time')
}

function tryEach(
  connect: buildConnector.connector,
  options: buildConnector.Options,
  [address, ...others]: readonly string[],
  callback: buildConnector.Callback,
): void {
  const settle = (...[error, socket]: Parameters<buildConnector.Callback>): void => {
    if (error !== null && others.length > 0) tryEach(connect, options, others, callback)
    else if (error !== null) callback(error, null)
    else callback(null, socket)
  }
  // The certificate is checked against the host name, not against the address.
  const servername = options.servername ?? (isIP(hostOf(options)) === 0 ? hostOf(options) : undefined)
  connect({ ...options, hostname: address as string, ...(servername === undefined ? {} : { servername }) }, settle)
}
