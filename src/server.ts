/**
 * The life of the server process: data directory and lock, lanes, listening, ready; then SIGTERM: stop accepting, finish what was accepted, close lanes and stores.
 * Front-end thread. A storage fault or the loss of the write lane ends it by SIGKILL, because after either nothing that this process says of a write can be trusted, and
 * because an orderly exit can hang after an I/O error.
 */
import type { Config } from './config.js'
import { BodyMoves } from './dispatch/body_moves.js'
import { ClearSweep } from './dispatch/clear_sweep.js'
import { BulkIngests } from './dispatch/bulk_ingests.js'
import { ControlBlock, type Phase } from './dispatch/control_block.js'
import { Dispatcher } from './dispatch/dispatcher.js'
import { Embedding } from './dispatch/embedding.js'
import { ActiveEmbedding, type VectorConfig } from './dispatch/embedding_provider.js'
import { Lanes, type LanesListener } from './dispatch/lanes.js'
import { ObjectIo } from './dispatch/object_io.js'
import { ObjectSweep } from './dispatch/object_sweep.js'
import type { ServerState } from './dispatch/server_state.js'
import { heldBodies } from './engine/held_bodies.js'
import { lockFile, openEngine } from './engine/native_engine.js'
import { printListening, printReady, printWarnings } from './greeting.js'
import { LAST_WORDS_MS } from './limits.js'
import { laneOperations } from './operations/index.js'
import { ObjectStores } from './outbound/object_stores.js'
import { Outbound } from './outbound/safe_fetch.js'
import { backupDirectory, sweepBackups } from './store/backups.js'
import { generationsOf, openDataDirectory, sweepDataDirectory } from './store/layout.js'
import { EXIT_REFUSED } from './supervisor.js'
import { FrontEnd } from './surface/http/front_end.js'
import { loopHandlers } from './surface/http/loop_handlers.js'
import { auditRotation } from './telemetry/audit.js'
import { Telemetry } from './telemetry/registry.js'

/** Starts the server; the process then lives by its sockets. @param supervised it ends when its parent does. */
export async function runServer(config: Config, supervised: boolean): Promise<void> {
  const server = new Server(config)
  process.on('SIGTERM', () => void server.shutDown())
  process.on('SIGINT', () => void server.shutDown())
  if (supervised) process.on('disconnect', () => void server.shutDown())
  await server.start()
}

class Server implements ServerState, LanesListener {
  readonly startedAt = Date.now()
  listenAddress = ''
  readonly #control = ControlBlock.create()
  /** The one that the lanes share; asked for health. */
  readonly #engine = openEngine()
  readonly #telemetry = Telemetry.create(laneOperations.map((operation) => operation.name))
  readonly #dispatcher: Dispatcher
  readonly #ingests: BulkIngests
  readonly #moves: BodyMoves
  readonly #sweep: ObjectSweep
  readonly #clearSweep: ClearSweep
  readonly #objects: ObjectIo
  readonly #vectors: Embedding
  readonly #embedding: ActiveEmbedding
  readonly #frontEnd: FrontEnd
  #lanes: Lanes | undefined
  #phaseReason = ''
  #ending: Promise<void> | undefined

  constructor(readonly config: Config) {
    this.#telemetry.claimRow()
    const outbound = new Outbound({ allowed: config.outboundAllowlist, allowPrivate: config.outboundAllowPrivate })
    const held = heldBodies(config.limits)
    this.#objects = new ObjectIo(new ObjectStores(outbound, held))
    this.#dispatcher = new Dispatcher(config, this.#control, this.#telemetry, this.#objects)
    this.#dispatcher.onWritten('rotateEncryption', ({ status, body }) => auditRotation(status, Buffer.from(body).toString()))
    this.#moves = new BodyMoves(this.#dispatcher, this.#telemetry)
    this.#sweep = new ObjectSweep(this.#dispatcher, this.#objects, this.#telemetry, config.objectRetentionSeconds)
    this.#clearSweep = new ClearSweep(this.#dispatcher, this.#objects.stores, this.#telemetry)
    this.#ingests = new BulkIngests(config, this.#dispatcher, outbound, this.#telemetry)
    this.#embedding = new ActiveEmbedding(config, this.#dispatcher, this.#telemetry)
    this.#vectors = new Embedding(config, this.#dispatcher, this.#control, this.#embedding, held, this.#telemetry)
    this.#frontEnd = new FrontEnd({
      config,
      state: this,
      control: this.#control,
      dispatcher: this.#dispatcher,
      telemetry: this.#telemetry,
      loopHandlers,
    })
  }

  phase(): Phase {
    return this.#control.phase
  }

  phaseReason(): string {
    return this.#phaseReason
  }

  indexUnstored(): boolean {
    return this.#engine.storageState() !== 'good'
  }

  vectorConfig(): VectorConfig {
    return this.#embedding.describe()
  }

  /** Listening starts before the lanes are ready, so that health can say `warming_up`. */
  async start(): Promise<void> {
    printWarnings(this.config)
    try {
      const directory = openDataDirectory(this.config.path)
      lock(directory)
      sweepDataDirectory(directory)
      sweepBackups(backupDirectory(this.config.path, this.config.backupDirectory))
      this.listenAddress = await this.#frontEnd.listen(this.config.httpAddr)
    } catch (error) {
      refuseStart(error instanceof Error ? error.message : String(error))
    }
    printListening(this.listenAddress)
    this.#lanes = new Lanes(
      this.config,
      this.#control,
      this.#telemetry,
      this.#dispatcher,
      this,
      generationsOf(this.config.path),
      this.#vectors.block.buffer,
    )
  }

  onReady(): void {
    // Before anything is written: what is written without a provider is not embedded.
    void this.#embedding.load().then(() => this.#open())
  }

  #open(): void {
    if (this.#control.phase !== 'warming_up') return
    this.#control.phase = 'healthy'
    this.#moves.start()
    this.#sweep.start()
    this.#clearSweep.start()
    this.#vectors.start()
    void this.#embedding.lookAround()
    printReady(this.listenAddress, Date.now() - this.startedAt)
  }

  onFailed(reason: string): void {
    if (this.#control.phase === 'warming_up') refuseStart(reason)
    this.onFatal(reason)
  }

  onFatal(reason: string): void {
    if (this.#control.phase === 'unhealthy') return
    this.#control.phase = 'unhealthy'
    this.#phaseReason = reason
    console.error(`fatal: ${reason}`)
    this.#dispatcher.failEverything()
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), LAST_WORDS_MS)
  }

  /** Once; a second signal changes nothing. */
  async shutDown(): Promise<void> {
    this.#ending ??= this.#drainAndClose()
    await this.#ending
  }

  async #drainAndClose(): Promise<void> {
    if (this.#control.phase === 'unhealthy') return
    this.#control.phase = 'draining'
    console.log('shutting down: finishing what was accepted')
    this.#frontEnd.stopListening()
    const patience = setTimeout(() => {
      console.error(`shutdown: not finished within ${this.config.shutdownSecondsMax} s; ending`)
      process.kill(process.pid, 'SIGKILL')
    }, this.config.shutdownSecondsMax * 1000)
    // Clients that neither send nor read must not cost the store its orderly end.
    const slow = setTimeout(() => this.#frontEnd.close(), (this.config.shutdownSecondsMax * 1000) / 2)
    const jobsEnd = Promise.all([this.#ingests.stop(), this.#vectors.stop()])
    await this.#frontEnd.idle()
    clearTimeout(slow)
    await jobsEnd
    await Promise.all([this.#moves.stop(), this.#sweep.stop(), this.#clearSweep.stop(), this.#embedding.stop()])
    await this.#dispatcher.idle()
    this.#dispatcher.stop()
    this.#frontEnd.close()
    await this.#lanes?.close()
    await this.#objects.stores.close()
    clearTimeout(patience)
    console.log('stopped')
    process.exit(0)
  }
}

function lock({ path, lockPath }: { readonly path: string; readonly lockPath: string }): void {
  try {
    lockFile(lockPath)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    if (reason === 'locked') throw new Error(`${path} is in use by another process`)
    throw error
  }
}

function refuseStart(reason: string): never {
  console.error(`can't start: ${reason}`)
  process.exit(EXIT_REFUSED)
}
