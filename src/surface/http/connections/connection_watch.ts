/**
 * Bounds the open connections of one client over all event loops (`SVC_MAX_CONN_IP`). While there are more
 * connections than that in all, they are counted once a second, otherwise the watch rests; the event loops
 * close further ones of clients that have too many. So the bound holds to within the connections of a second.
 * Outside of production it is a warning only. This machine and trusted proxies are exempt: their connections
 * are those of others. Front-end thread only. Decision: docs/decisions/operation/throttles.md.
 */
import { Chore, type ChoreTools, type Rest } from '../../../chore.js'
import type { Config } from '../../../config/config.js'
import { canonicalAddress, Networks } from '../../../outbound/networks.js'
import { log } from '../../../telemetry/log.js'
import type { LoopBlock } from '../../../wire/loop_block.js'
import { countConnections } from './connection_census.js'

/**
 * How often the connections of clients are counted while there are many. 10 000 connections take 10 ms.
 */
const CENSUS_MS = 1_000
/** Clients whose further connections are closed: more than that have a million connections in all. */
const CROWDED_CLIENTS_MAX = 1_000

const REFUSED = 'a client has as many connections as SVC_MAX_CONN_IP allows; further ones are closed'
const WARNED = 'a client has more connections than SVC_MAX_CONN_IP; with SVC_PRODUCTION=true they would be closed'
const THIS_MACHINE = ['127.0.0.0/8', '::1']

interface WatchParts {
  readonly config: Pick<Config, 'connectionsOfAddressMax' | 'production' | 'trustedProxies'>
  readonly tools: ChoreTools
  readonly loops: Pick<LoopBlock, 'connections' | 'moreConnectionsThan'>
  readonly port: () => number
  /** Tells all loops whose further connections to close. */
  readonly publish: (crowded: readonly string[]) => void
}

export function connectionWatch({ config, tools, loops, port, publish }: WatchParts): Chore {
  const { connectionsOfAddressMax: most, production, trustedProxies } = config
  const exempt = new Networks([...THIS_MACHINE, ...trustedProxies.filter((entry) => entry !== 'unix')])
  const isExempt = (address: string): boolean => exempt.has(canonicalAddress(address) ?? address)
  let crowded: readonly string[] = []
  const change = (next: readonly string[]): void => {
    for (const client of next) if (!crowded.includes(client)) log.warn(production ? REFUSED : WARNED, { address: client })
    if (production && next.join() !== crowded.join()) publish(next)
    crowded = next
  }
  const round = async (): Promise<Rest> => {
    // None can have more than all have.
    if (loops.connections() <= most) {
      change([])
      void loops.moreConnectionsThan(most).then(() => chore.wake())
      return 'idle'
    }
    const counts = await countConnections(port(), isExempt)
    // In production the next one of a client that has reached the bound is closed.
    const least = production ? most : most + 1
    change([...counts].filter(([, count]) => count >= least).map(([client]) => client).slice(0, CROWDED_CLIENTS_MAX)) // prettier-ignore
    return CENSUS_MS
  }
  const chore = new Chore(tools, { name: 'connection-watch', round, failure: 'the connections of clients are not counted' })
  return chore
}
