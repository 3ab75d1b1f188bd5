/**
 * The open connections of each client address on one port (`SVC_MAX_CONN_IP`; 0: no bound). Peers on a unix
 * socket are users of this machine, whom its permissions admit: they are not bounded one by one. One object a
 * port.
 */
import type { Socket } from 'node:net'
import { addressKey } from '../../access/client_key.js'
import { canonicalAddress } from '../../outbound/networks.js'

const LOCAL = addressKey('')

export class AddressCounts {
  readonly #open = new Map<string, number>()

  /** @param ofAddressMax 0: no bound */
  constructor(readonly ofAddressMax: number) {}

  /** Counts the connection until it closes. @returns false if it is one too many: it is to be closed */
  admits(socket: Socket): boolean {
    if (this.ofAddressMax === 0) return true
    const client = addressKey(canonicalAddress(socket.remoteAddress ?? '') ?? '')
    if (client === LOCAL) return true
    const open = (this.#open.get(client) ?? 0) + 1
    if (open > this.ofAddressMax) return false
    this.#open.set(client, open)
    socket.once('close', () => this.#forget(client))
    return true
  }

  #forget(client: string): void {
    const left = (this.#open.get(client) ?? 1) - 1
    if (left === 0) this.#open.delete(client)
    else this.#open.set(client, left)
  }
}
