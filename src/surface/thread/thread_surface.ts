/**
 * A surface in a thread of its own, as the front end runs it: starts the thread, serves its port, ends it,
 * and starts it again if it ends by itself. The thread's side is thread_port.ts. Front-end thread only.
 */
import { MessageChannel, MessagePort, Worker } from 'node:worker_threads'
import type { StoreReader } from '../../dispatch/loop_reads.js'
import { SurfacePort } from '../../dispatch/port/surface_port.js'
import type { RunningSurface } from '../../dispatch/surface.js'
import { SURFACE_RESTART_MS } from '../../limits/lanes.js'
import { log } from '../../telemetry/log.js'
import type { SurfaceReply, SurfaceRequest, SurfaceStart } from '../../wire/messages/surface_messages.js'
import type { ThreadOrder, ThreadReport } from '../../wire/messages/thread_calls.js'
import type { TlsFiles } from '../../wire/tls_files.js'
import type { SurfaceHost } from '../host.js'
import { paceMessages } from './paced_messages.js'

/** A thread that has been told to end is ended after this time. */
const SURFACE_END_MS_MAX = 1000
/** A loop that does not close its reader of a replaced store in this time is ended, and started again. */
const LOOP_STORE_MS_MAX = 5_000

interface ThreadParts {
  /** Path of the thread's code. */
  readonly program: string
  /** For the thread, at each of its starts; must be structured-cloneable. */
  readonly options: () => unknown
  /** Megabytes of its heap, above which it is ended. Default: as much as the process may have. */
  readonly heapMbMax?: number
  /** Variables of its environment, beside those of the process. */
  readonly env?: NodeJS.ProcessEnv
  /** The thread is started again when it ends by itself. Default: it is. */
  readonly isRestarted?: boolean
  /** The thread asks for admission itself, before it reads a body (surface_port.ts). Default: it does not. */
  readonly asksAdmission?: boolean
  /** The thread sends bodies on as they are (surface_port.ts). Default: it does not. */
  readonly sendsBodiesOn?: boolean
  /** Called with what a thread reports that runs operations. */
  readonly onReport?: (report: ThreadReport) => void
  /** Called when the thread listens. */
  readonly onListening?: () => void
  /** Called when the thread has ended, for whatever reason. */
  readonly onEnd?: () => void
}

export class ThreadSurface implements RunningSurface, StoreReader {
  readonly #host: SurfaceHost
  readonly #parts: ThreadParts
  readonly #waiters: (() => void)[] = []
  #worker: Worker | undefined
  #port: MessagePort | undefined
  #requests: SurfacePort | undefined
  /** Orders to drain that the thread has not reported as done. */
  #drains = 0
  #isStopping = false
  #restart: NodeJS.Timeout | undefined
  #lastServe = 0
  readonly #served = new Map<number, () => void>()

  constructor(host: SurfaceHost, parts: ThreadParts) {
    this.#host = host
    this.#parts = parts
  }

  async listen(): Promise<string> {
    const { port1, port2 } = new MessageChannel()
    const { core, dispatcher, surface, config } = this.#host
    const { program, onEnd, onListening, onReport, asksAdmission, sendsBodiesOn, heapMbMax, env } = this.#parts
    const start: SurfaceStart = { port: port2, options: this.#parts.options() }
    const requests = new SurfacePort(port1, dispatcher, surface, config, core.identities, asksAdmission, sendsBodiesOn)
    let worker: Worker
    try {
      worker = new Worker(program, {
        workerData: start,
        transferList: [port2],
        ...(env === undefined ? {} : { env: { ...process.env, ...env } }),
        ...(heapMbMax === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: heapMbMax } }),
      })
    } catch (error) {
      // The system has no thread left.
      port1.close()
      onEnd?.()
      throw error
    }
    this.#worker = worker
    this.#port = port1
    this.#requests = requests
    this.#drains = 0
    let isListening = false
    return await new Promise<string>((resolve, reject) => {
      const stopMessages = paceMessages(port1, (message: SurfaceRequest) => {
        if (requests.take(message)) return
        if (message.kind === 'listening') {
          isListening = true
          onListening?.()
          resolve(message.address)
        } else if (message.kind === 'refused') reject(new Error(message.reason))
        else if (message.kind === 'drained') this.#drained(this.#drains - 1)
        else if (message.kind === 'served') this.#settle(message.number)
        else if (message.kind === 'answers' || message.kind === 'read') onReport?.(message)
      })
      // By its own port, the thread sends only that by which it can be profiled.
      worker.on('message', (profiles: unknown) => {
        if (config.pprofEnabled && profiles instanceof MessagePort) dispatcher.profiled.add(surface.name, profiles)
      })
      worker.on('error', (error) => {
        log.error(`surface ${surface.name}`, { fault: error })
        reject(error)
      })
      worker.on('exit', () => {
        // Requests that are still in the port have no client any more.
        stopMessages()
        port1.close()
        requests.close()
        this.#drained(0)
        this.#port = undefined
        this.#worker = undefined
        for (const number of [...this.#served.keys()]) this.#settle(number)
        onEnd?.()
        const reason = `the thread of surface ${surface.name} has ended`
        if (isListening && this.#parts.isRestarted !== false) this.#startAgain(reason)
        else if (isListening) log.error(reason)
        else reject(new Error(reason))
      })
    })
  }

  /**
   * For a thread that reads the store: has it read this generation, or none. Resolves when nothing of another
   * one is open there. A thread that does not answer in time is ended.
   */
  async serve(generation: string | null): Promise<void> {
    const port = this.#port
    if (port === undefined) return
    const number = ++this.#lastServe
    const late = setTimeout(() => void this.#worker?.terminate(), LOOP_STORE_MS_MAX)
    await new Promise<void>((resolve) => {
      this.#served.set(number, resolve)
      port.postMessage({ kind: 'serve', number, generation } satisfies SurfaceReply)
    })
    clearTimeout(late)
  }

  /** For a thread that listens with TLS. One that is being started gets the pair as an option. */
  renew(files: TlsFiles): void {
    this.#port?.postMessage({ kind: 'renew', files } satisfies SurfaceReply)
  }

  /** For a thread that runs operations. Nothing is lost before it listens. */
  order(order: ThreadOrder, transferred: readonly ArrayBuffer[] = []): void {
    this.#port?.postMessage(order, transferred)
  }

  #settle(number: number): void {
    this.#served.get(number)?.()
    this.#served.delete(number)
  }

  /** For event loops of HTTP: further connections of these clients are closed. */
  refuse(clients: readonly string[]): void {
    this.#port?.postMessage({ kind: 'crowded', clients } satisfies SurfaceReply)
  }

  stopListening(): void {
    this.#isStopping = true
    clearTimeout(this.#restart)
    if (this.#port === undefined) return
    this.#drains++
    this.#port.postMessage({ kind: 'drain' } satisfies SurfaceReply)
  }

  async idle(): Promise<void> {
    if (this.#drains === 0 || this.#worker === undefined) return
    await new Promise<void>((resolve) => this.#waiters.push(resolve))
  }

  close(): void {
    this.#isStopping = true
    clearTimeout(this.#restart)
    this.#requests?.close()
    this.#port?.postMessage({ kind: 'end' } satisfies SurfaceReply)
    const worker = this.#worker
    if (worker === undefined) return
    const late = setTimeout(() => void worker.terminate(), SURFACE_END_MS_MAX)
    worker.once('exit', () => clearTimeout(late))
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

  #drained(left: number): void {
    this.#drains = Math.max(0, left)
    if (this.#drains > 0) return
    for (const resolve of this.#waiters.splice(0)) resolve()
  }
}
