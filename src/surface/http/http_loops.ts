/**
 * The event loops that serve HTTP on one port: one on the thread of the dispatcher, the others in threads of
 * their own (src/http_loop.ts), which reach the dispatcher by a port. The kernel divides the connections
 * between them. Decision: docs/decisions/0203. Front-end thread only.
 */
import { FailureReports } from '../../access/failure_reports.js'
import { formatAddress, type ListenAddress } from '../../config/config.js'
import type { RunningSurface } from '../../dispatch/surface.js'
import { programPath } from '../../installation.js'
import { logMemory } from '../../telemetry/log.js'
import { LoopBlock } from '../../wire/loop_block.js'
import type { SurfaceHost } from '../host.js'
import { ThreadSurface } from '../thread/thread_surface.js'
import { FrontEnd } from './front_end.js'
import type { Chore } from '../../chore.js'
import { connectionWatch } from './connection_watch.js'
import { HttpLimit } from './http_limit.js'
import { LoopConnections } from './loop_connections.js'
import { claim } from './listening.js'
import { authenticatorOf, budgetsOf, type HttpLoopStart } from './loop_start.js'

const PROGRAM = programPath('http_loop')

export class HttpLoops implements RunningSurface {
  readonly #host: SurfaceHost
  readonly #first: FrontEnd<object>
  readonly #others: readonly ThreadSurface[]
  readonly #loops: LoopBlock
  readonly #connections: LoopConnections
  /** Null: the number of connections is not bounded. */
  readonly #watch: Chore | null
  #address: ListenAddress

  constructor(host: SurfaceHost) {
    const { config, dispatcher, telemetry, surface, identities, rateLimit } = host
    this.#host = host
    this.#address = config.httpAddr
    this.#loops = LoopBlock.create(config.httpLoops)
    const authenticator = authenticatorOf(config, dispatcher.control, (asked) => identities.identify(asked))
    const budgets = budgetsOf(config, this.#loops, 0, telemetry)
    this.#connections = new LoopConnections(this.#loops, 0, telemetry)
    const limit = rateLimit === null ? null : new HttpLimit(rateLimit, telemetry)
    this.#first = new FrontEnd({
      config,
      core: dispatcher,
      telemetry,
      surface,
      authenticator,
      failures: new FailureReports(identities.onFailure),
      budgets,
      limit,
      connections: this.#connections,
    })
    this.#others = Array.from({ length: config.httpLoops - 1 }, (_, at) => this.#threadOf(at + 1))
    for (const thread of this.#others) dispatcher.served.add(thread)
    this.#watch = config.connectionsOfAddressMax > 0 && config.httpAddr.kind === 'tcp' ? this.#watchOf() : null
  }

  async listen(): Promise<string> {
    const { httpAddr } = this.#host.config
    const isShared = this.#others.length > 0
    const claimed = isShared ? await claim(httpAddr) : httpAddr
    this.#address = await this.#first.listen(claimed, isShared)
    await Promise.all(this.#others.map((thread) => thread.listen()))
    this.#watch?.start()
    return formatAddress(this.#address)
  }

  stopListening(): void {
    this.#first.stopListening()
    for (const thread of this.#others) thread.stopListening()
  }

  async idle(): Promise<void> {
    await Promise.all([this.#first.idle(), ...this.#others.map((thread) => thread.idle())])
  }

  close(): void {
    void this.#watch?.stop()
    this.#first.close()
    for (const thread of this.#others) thread.close()
  }

  #watchOf(): Chore {
    const { config, dispatcher, telemetry } = this.#host
    return connectionWatch({
      config,
      tools: { role: dispatcher.control, telemetry },
      open: () => this.#loops.connections().reduce((sum, count) => sum + count, 0),
      port: () => (this.#address.kind === 'tcp' ? this.#address.port : 0),
      publish: (clients) => {
        this.#connections.refuse(clients)
        for (const thread of this.#others) thread.refuse(clients)
      },
    })
  }

  #threadOf(loop: number): ThreadSurface {
    const { config, dispatcher, telemetry, surface, rateLimit } = this.#host
    return new ThreadSurface(this.#host, {
      program: PROGRAM,
      options: (): HttpLoopStart => ({
        config: { ...config, httpAddr: this.#address },
        surface,
        loop,
        control: dispatcher.control.buffer,
        telemetry: telemetry.buffer,
        log: logMemory(),
        loops: this.#loops.buffer,
        rateLimit: rateLimit?.memory ?? null,
        generation: dispatcher.served.generation,
      }),
      asksAdmission: true,
      onEnd: () => this.#onEnd(loop),
    })
  }

  #onEnd(loop: number): void {
    const row = this.#loops.clear(loop)
    if (row >= 0) this.#host.telemetry.releaseRow(row)
    if (this.#host.dispatcher.control.phase !== 'draining') this.#host.telemetry.add('http_loop_deaths', 1)
  }
}
