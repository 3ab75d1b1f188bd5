/**
 * The event loops that serve HTTP on one port: one on the thread of the dispatcher, the others in threads of
 * their own (src/programs/http_loop.ts), which reach the dispatcher by a port. The kernel divides the
 * connections between them. Decision: docs/decisions/store/point-reads.md. Front-end thread only.
 */
import { FailureReports } from '../../access/failure_reports.js'
import { programPath } from '../../base/installation.js'
import type { Chore } from '../../chore.js'
import { formatAddress, type ListenAddress } from '../../config/config.js'
import { SpareBuffers } from '../../dispatch/port/spare_buffers.js'
import type { RunningSurface } from '../../dispatch/surface.js'
import { BODIES_SPARE_BYTES_MAX } from '../../limits/surfaces.js'
import { graphql } from '../../operations/server/graphql.js'
import { logMemory } from '../../telemetry/log.js'
import { LoopBlock } from '../../wire/loop_block.js'
import type { TlsFiles } from '../../wire/tls_files.js'
import { GraphqlHost } from '../graphql/graphql_host.js'
import type { SurfaceHost } from '../host.js'
import { SocketFile } from '../socket_file.js'
import { ThreadSurface } from '../thread/thread_surface.js'
import { connectionWatch } from './connections/connection_watch.js'
import { claim } from './connections/listening.js'
import { LoopConnections } from './connections/loop_connections.js'
import { FrontEnd } from './front_end.js'
import { Gate } from './gate/gate.js'
import { HttpLimit } from './http_limit.js'
import type { Entry } from './loop_start.js'
import { authenticatorOf, budgetsOf, type HttpLoopStart } from './loop_start.js'

const PROGRAM = programPath('http_loop')

export class HttpLoops implements RunningSurface {
  readonly #host: SurfaceHost
  readonly #first: FrontEnd
  readonly #others: readonly ThreadSurface[]
  readonly #loops: LoopBlock
  readonly #connections: LoopConnections
  /** Null: clients connect to the loops. */
  readonly #gate: Gate | null
  /** Null: the number of connections is not bounded. */
  readonly #watch: Chore | null
  /** Null: GraphQL is off. */
  readonly #graphql: GraphqlHost | null
  #address: ListenAddress
  /** Of a unix socket. */
  #file: SocketFile | undefined

  constructor(host: SurfaceHost) {
    const { config, core, dispatcher, telemetry, surface, rateLimit, credentials } = host
    this.#host = host
    this.#address = config.httpAddr
    // The last one is the gate's.
    this.#loops = LoopBlock.create(config.httpLoops + 1)
    this.#gate = this.#newGate()
    const authenticator = authenticatorOf(config, {
      control: dispatcher.control,
      identify: (asked) => core.identify(asked),
      failures: new FailureReports(core.identities.onFailure),
    })
    const budgets = budgetsOf(config, this.#loops, 0, telemetry)
    this.#connections = new LoopConnections(this.#loops, 0, telemetry)
    const limit = rateLimit === null ? null : new HttpLimit(rateLimit, telemetry)
    const spare = new SpareBuffers(BODIES_SPARE_BYTES_MAX)
    this.#first = new FrontEnd({
      config,
      core,
      control: dispatcher.control,
      telemetry,
      surface,
      authenticator,
      budgets,
      spare,
      limit,
      connections: this.#connections,
      entry: this.#entry(),
    })
    this.#others = Array.from({ length: config.httpLoops - 1 }, (_, at) => this.#threadOf(at + 1))
    for (const thread of this.#others) dispatcher.served.add(thread)
    this.#watch = config.connectionsOfAddressMax > 0 && config.httpAddr.kind === 'tcp' ? this.#watchOf() : null
    credentials?.onRenewed((files) => this.#renew(files))
    this.#graphql = config.graphqlEnabled ? new GraphqlHost(host, spare) : null
    if (this.#graphql !== null) dispatcher.threads.attach(graphql, this.#graphql)
  }

  async listen(): Promise<string> {
    this.#address = this.#gate === null ? await this.#listenOnLoops() : await this.#listenBehind(this.#gate)
    this.#watch?.start()
    return formatAddress(this.#address)
  }

  stopListening(): void {
    this.#file?.remove()
    this.#file = undefined
    this.#gate?.thread.stopListening()
    this.#first.stopListening()
    for (const thread of this.#others) thread.stopListening()
  }

  async idle(): Promise<void> {
    const isLeaving = this.#host.dispatcher.control.phase === 'leaving'
    // A loop that was idle while requests were still served may have got some since: it is asked again.
    if (!isLeaving) for (const thread of this.#others) thread.stopListening()
    await Promise.all([this.#first.idle(), ...this.#others.map((thread) => thread.idle())])
    if (this.#gate === null || isLeaving) return
    // The gate sends on what it has, then closes its connections.
    this.#closeLoops()
    await this.#gate.thread.idle()
  }

  close(): void {
    void this.#watch?.stop()
    this.#closeLoops()
    this.#gate?.close()
    this.#graphql?.close()
  }

  #closeLoops(): void {
    this.#first.close()
    for (const thread of this.#others) thread.close()
  }

  #watchOf(): Chore {
    const { config, dispatcher, telemetry } = this.#host
    return connectionWatch({
      config,
      tools: { role: dispatcher.control, telemetry },
      loops: this.#loops,
      port: () => (this.#address.kind === 'tcp' ? this.#address.port : 0),
      publish: (clients) => this.#refuse(clients),
    })
  }

  #refuse(clients: readonly string[]): void {
    if (this.#gate !== null) {
      this.#gate.thread.refuse(clients)
      return
    }
    this.#connections.refuse(clients)
    for (const thread of this.#others) thread.refuse(clients)
  }

  #newGate(): Gate | null {
    const { config, credentials } = this.#host
    if (credentials?.requiresClients !== true || config.httpAddr.kind === 'unix') return null
    return new Gate(this.#host, credentials, config.httpAddr, this.#loops)
  }

  async #listenBehind(gate: Gate): Promise<ListenAddress> {
    await this.#first.listen(gate.addressOf(0))
    await Promise.all(this.#others.map((thread) => thread.listen()))
    return await gate.listen()
  }

  async #listenOnLoops(): Promise<ListenAddress> {
    const { httpAddr } = this.#host.config
    if (httpAddr.kind === 'unix') return await this.#listenOnPath(httpAddr)
    const isShared = this.#others.length > 0
    // The other loops need the real port when they start.
    this.#address = await this.#first.listen(isShared ? await claim(httpAddr) : httpAddr, isShared)
    await Promise.all(this.#others.map((thread) => thread.listen()))
    return this.#address
  }

  /** uWebSockets.js removes whatever is at the path, so what is there is looked at before. */
  async #listenOnPath(address: ListenAddress & { kind: 'unix' }): Promise<ListenAddress> {
    try {
      this.#host.freeSocketPath(address.path)
    } catch (error) {
      throw new Error(`${formatAddress(address)} can't be listened on: ${(error as Error).message}`)
    }
    await this.#first.listen(address)
    this.#file = new SocketFile(address.path)
    return address
  }

  #entry(): Entry {
    return { files: this.#gate === null ? (this.#host.credentials?.files ?? null) : null, isBehindGate: this.#gate !== null }
  }

  #renew(files: TlsFiles): void {
    if (this.#gate !== null) {
      this.#gate.thread.renew(files)
      return
    }
    this.#first.renew(files)
    for (const thread of this.#others) thread.renew(files)
  }

  #threadOf(loop: number): ThreadSurface {
    const { config, dispatcher, telemetry, surface, rateLimit } = this.#host
    return new ThreadSurface(this.#host, {
      program: PROGRAM,
      options: (): HttpLoopStart => ({
        config: { ...config, httpAddr: this.#gate?.addressOf(loop) ?? this.#address },
        surface,
        entry: this.#entry(),
        loop,
        control: dispatcher.control.buffer,
        telemetry: telemetry.buffer,
        log: logMemory(),
        loops: this.#loops.buffer,
        rateLimit: rateLimit?.memory ?? null,
        generation: dispatcher.served.generation,
      }),
      asksAdmission: true,
      sendsBodiesOn: true,
      onEnd: () => this.#onEnd(loop),
    })
  }

  #onEnd(loop: number): void {
    const row = this.#loops.clear(loop)
    if (row >= 0) this.#host.telemetry.releaseRow(row)
    if (this.#host.dispatcher.control.phase !== 'draining') this.#host.telemetry.add('http_loop_deaths', 1)
  }
}
