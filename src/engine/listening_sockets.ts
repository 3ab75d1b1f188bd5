/** Sockets that listen before a thread serves them (native/binding/system/listening_sockets.h). */
import { loadAddon } from './addon.js'

interface Addon {
  openListening(host: string, port: number, path: string): { readonly descriptor: number; readonly port: number }
  freeSocketPath(path: string): void
  copyDescriptor(descriptor: number): number
  closeDescriptor(descriptor: number): void
  onConnection(descriptor: number, call: () => void): void
}

const addon = (): Addon => loadAddon<Addon>(['openListening', 'freeSocketPath', 'copyDescriptor', 'closeDescriptor', 'onConnection'])

/** One listening socket. The object is used on the thread that has opened it. */
export class ListeningSocket {
  readonly #descriptor: number
  /** The real one; 0 for a unix socket. */
  readonly port: number

  /**
   * @param host empty: all interfaces
   * @param port 0: any free one
   * @param path of a unix socket; empty: TCP
   * @throws Error with the reason, in one line
   */
  constructor(host: string, port: number, path: string) {
    const opened = addon().openListening(host, port, path)
    this.#descriptor = opened.descriptor
    this.port = opened.port
  }

  /** @returns a descriptor of the same socket, for another thread, which closes it */
  copy(): number {
    return addon().copyDescriptor(this.#descriptor)
  }

  /** Calls once, when a connection waits to be accepted. */
  onConnection(call: () => void): void {
    addon().onConnection(this.#descriptor, call)
  }

  /** Copies stay open. A call that waits does not come. */
  close(): void {
    addon().closeDescriptor(this.#descriptor)
  }
}

/**
 * Makes way for a unix socket at the path: removes the socket of a process that has ended, and nothing else.
 * @throws Error with the reason, in one line
 */
export function freeSocketPath(path: string): void {
  addon().freeSocketPath(path)
}

/** Closes a copy that no thread has taken over. */
export function closeCopy(descriptor: number): void {
  addon().closeDescriptor(descriptor)
}
