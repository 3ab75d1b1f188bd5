/**
 * Whether anything listens at an address of this machine. Asked before a request that is a guess, because the
 * client for requests takes 70 ms of its thread to load.
 */
import { connect } from 'node:net'

/**
 * @param url `http://host:port` of this machine
 * @returns false as well if nothing has answered within `msMax`. Never rejects.
 */
export function isListening(url: string, msMax: number): Promise<boolean> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), timeout: msMax })
    const settle = (isAccepted: boolean): void => {
      socket.destroy()
      resolve(isAccepted)
    }
    socket.once('connect', () => settle(true))
    socket.once('timeout', () => settle(false))
    socket.once('error', () => settle(false))
  })
}
