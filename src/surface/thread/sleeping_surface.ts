/**
 * A surface with a port of its own, whose thread starts with the first connection: until then there is only a
 * socket that listens, and connections wait in the kernel. Front-end thread only.
 */
import { formatAddress, type ListenAddress } from '../../config/config.js'
import type { RunningSurface } from '../../dispatch/surface.js'
import { SURFACE_RESTART_MS } from '../../limits/lanes.js'
import { log } from '../../telemetry/log.js'
import type { ListeningSocket, SurfaceHost } from '../host.js'
import { SocketFile } from '../socket_file.js'
import { CounterRow, threadStart } from './thread_start.js'
import { ThreadSurface } from './thread_surface.js'

export class SleepingSurface implements RunningSurface {
  readonly #host: SurfaceHost
  readonly #wanted: ListenAddress
  readonly #thread: ThreadSurface
  readonly #row = new CounterRow()
  #socket: ListeningSocket | undefined
  /** Of a unix socket. */
  #file: SocketFile | undefined
  /** A copy of the socket that the thread has not taken over yet. */
  #lent: number | undefined
  #isAwake = false
  #again: NodeJS.Timeout | undefined

  /**
   * @param program path of the thread's code, which begins with `openSurfaceThread`
   * @param own for the thread; must be structured-cloneable
   */
  constructor(host: SurfaceHost, address: ListenAddress, program: string, own?: unknown) {
    this.#host = host
    this.#wanted = address
    this.#thread = new ThreadSurface(host, {
      program,
      options: () => threadStart(host, this.#row, (this.#lent = this.#socket?.copy()) ?? null, own),
      asksAdmission: true,
      onListening: () => (this.#lent = undefined),
      onEnd: () => this.#onEnd(),
    })
    host.dispatcher.served.add(this.#thread)
    host.credentials?.onRenewed((files) => this.#thread.renew(files))
  }

  listen(): Promise<string> {
    const wanted = this.#wanted
    try {
      this.#socket =
        wanted.kind === 'unix' ? this.#host.openSocket('', 0, wanted.path) : this.#host.openSocket(wanted.host, wanted.port, '')
    } catch (error) {
      const { name } = this.#host.surface
      const option = `SVC_${name.toUpperCase()}`
      const remedy = `${option}_ADDR names another address, ${option}_ENABLED=false goes without`
      return Promise.reject(new Error(`${name}: ${formatAddress(wanted)} can't be listened on: ${(error as Error).message}; ${remedy}`))
    }
    if (wanted.kind === 'unix') this.#file = new SocketFile(wanted.path)
    this.#socket.onConnection(() => this.#wake())
    return Promise.resolve(formatAddress(wanted.kind === 'unix' ? wanted : { ...wanted, port: this.#socket.port }))
  }

  stopListening(): void {
    clearTimeout(this.#again)
    this.#file?.remove()
    this.#file = undefined
    this.#socket?.close()
    this.#socket = undefined
    if (this.#isAwake) this.#thread.stopListening()
  }

  async idle(): Promise<void> {
    if (this.#isAwake) await this.#thread.idle()
  }

  close(): void {
    this.#thread.close()
  }

  #wake(): void {
    if (this.#socket === undefined) return
    this.#isAwake = true
    this.#thread.listen().then(
      () => log.info(`surface ${this.#host.surface.name} has its first connection`),
      (error: unknown) => {
        log.error(`surface ${this.#host.surface.name} does not start`, { reason: (error as Error).message })
        this.#again = setTimeout(() => this.#wake(), SURFACE_RESTART_MS)
      },
    )
  }

  #onEnd(): void {
    if (this.#lent !== undefined) this.#host.closeCopy(this.#lent)
    this.#lent = undefined
    const row = this.#row.take()
    if (row >= 0) this.#host.telemetry.releaseRow(row)
  }
}
