/**
 * A surface in a thread of its own, as the front end runs it: starts the thread, serves its port, ends it,
 * and starts it again if it ends by itself. The thread's side is core_client.ts. Front-end thread only.
 */
import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads'
import { SurfacePort } from '../../dispatch/surface_port.js'
import type { RunningSurface } from '../../dispatch/surface.js'
import { SURFACE_RESTART_MS } from '../../limits/dispatch.js'
import { log } from '../../telemetry/log.js'
import type { SurfaceReply, SurfaceRequest, SurfaceStart } from '../../wire/surface_messages.js'
import type { SurfaceHost } from '../host.js'

export class ThreadSurface implements RunningSurface {
  readonly #host: SurfaceHost
  readonly #program: string
  readonly #options: unknown
  readonly #waiters: (() => void)[] = []
  #worker: Worker | undefined
  #port: MessagePort | undefined
  #requests: SurfacePort | undefined
  #isDrained = false
  #isStopping = false
  #restart: NodeJS.Timeout | undefined

  /**
   * @param program path of the thread's code
   * @param options for the thread; must be structured-cloneable
   */
  constructor(host: SurfaceHost, program: string, options: unknown) {
    this.#host = host
    this.#program = program
    this.#options = options
  }

  async listen(): Promise<string> {
    const { port1, port2 } = new MessageChannel()
    const { dispatcher, surface, config } = this.#host
    const start: SurfaceStart = { port: port2, options: this.#options }
    const requests = new SurfacePort(port1, dispatcher, surface, config)
    const worker = new Worker(this.#program, { workerData: start, transferList: [port2] })
    this.#worker = worker
    this.#port = port1
    this.#requests = requests
    this.#isDrained = false
    let isListening = false
    return await new Promise<string>((resolve, reject) => {
      port1.on('message', (message: SurfaceRequest) => {
        if (requests.take(message)) return
        if (message.kind === 'listening') {
          isListening = true
          resolve(message.address)
        } else if (message.kind === 'refused') reject(new Error(message.reason))
        else if (message.kind === 'drained') this.#drained()
      })
      worker.on('error', (error) => {
        log.error(`surface ${surface.name}`, { fault: error })
        reject(error)
      })
      worker.on('exit', () => {
        // Requests that are still in the port have no client any more.
        port1.removeAllListeners('message')
        port1.close()
        requests.close()
        this.#drained()
        const reason = `the thread of surface ${surface.name} has ended`
        if (isListening) this.#startAgain(reason)
        else reject(new Error(reason))
      })
    })
  }

  stopListening(): void {
    this.#isStopping = true
    clearTimeout(this.#restart)
    this.#port?.postMessage({ kind: 'drain' } satisfies SurfaceReply)
  }

  async idle(): Promise<void> {
    if (this.#isDrained || this.#worker === undefined) return
    await new Promise<void>((resolve) => this.#waiters.push(resolve))
  }

  close(): void {
    this.#isStopping = true
    clearTimeout(this.#restart)
    this.#requests?.close()
    void this.#worker?.terminate()
  }

  /** After a pause, and again until the thread listens. */
  #startAgain(reason: string): void {
    if (this.#isStopping) return
    const { name } = this.#host.surface
    log.error(`surface ${name} is started again`, { reason })
    this.#restart = setTimeout(() => {
      this.listen().then(
        (address) => log.info(`surface ${name} listens again`, { address }),
        async (error: unknown) => {
          await this.#worker?.terminate()
          this.#startAgain((error as Error).message)
        },
      )
    }, SURFACE_RESTART_MS)
  }

  #drained(): void {
    this.#isDrained = true
    for (const resolve of this.#waiters.splice(0)) resolve()
  }
}
