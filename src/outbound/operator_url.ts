/** Addresses that the operator has set by options are trusted, wherever they lead. Pure. */
import { parseAllowed } from './allowlist.js'
import { hostOf, portOf, type OutboundPolicy } from './destination.js'

/** The policy, with the host and port of these URLs allowed. */
export function allowedWith(policy: OutboundPolicy, ...operatorUrls: readonly string[]): OutboundPolicy {
  const named = operatorUrls.flatMap((address) => {
    const url = new URL(address)
    const host = hostOf(url)
    const allowed = parseAllowed(`${host.includes(':') ? `[${host}]` : host}:${portOf(url)}`)
    return allowed === undefined ? [] : [allowed]
  })
  return { ...policy, allowed: [...policy.allowed, ...named] }
}
