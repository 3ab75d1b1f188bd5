/**
 * The life of the server process: data directory and lock, lanes, listening, ready; then SIGTERM: stop accepting, finish what was accepted, close lanes and stores.
 * Front-end thread. A storage fault or the loss of the write lane ends it by SIGKILL, because after either nothing that this process says of a write can be trusted, and
 * because an orderly exit can hang after an I/O error.
 */
import type { Config } from './config.js'
import { BodyMoves } from './background/objects/body_moves.js'
import { ClearSweep } from './background/objects/plaintext_sweep.js'
import { BulkIngests } from './background/bulk_ingests.js'
import { ControlBlock, type Phase } from './wire/control_block.js'
import { Dispatcher } from './dispatch/dispatcher.js'
import { Embedding } from './background/embedding/embedding.js'
import { ActiveEmbedding, type VectorConfig } from './background/embedding/provider.js'
import { Lanes, type LanesListener } from './dispatch/lanes.js'
import { answerHealth } from './system/loop_answers.js'
import { ObjectIo } from './background/objects/object_io.js'
import { ObjectSweep } from './background/objects/object_sweep.js'
import { watchHealth } from './system/probes.js'
import type { ServerState } from './system/server_state.js'
import { heldBodies } from './engine/held_bodies.js'
import { lockFile, openEngine } from './engine/native_engine.js'
import { openVectorEngine } from './engine/vector_engine.js'
import { printListening, printReady, printRefusal, printWarnings } from './greeting.js'
import { LAST_WORDS_MS } from './limits.js'
import { laneOperations } from './operations/index.js'
import { ObjectStores } from './outbound/object_stores.js'
import { Outbound } from './outbound/safe_fetch.js'
import { backupDirectory, lastBackup, sweepBackups } from './store/backups.js'
import { DiskSpace, floorOf } from './store/disk_space.js'
import { generationsOf, openDataDirectory, sweepDataDirectory, type DataDirectory } from './store/layout.js'
import { DISK_FULL_MESSAGE, EXIT_FAILED, EXIT_REFUSED, RESTARTS_VARIABLE } from './supervisor.js'
import { FrontEnd } from './surface/http/front_end.js'
import { loopHandlers } from './surface/http/loop_handlers.js'
import { auditRotation } from './telemetry/audit.js'
import { Telemetry } from './telemetry/registry.js'
import { log } from './telemetry/log.js'

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
  readonly #vectorEngine = openVectorEngine()
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
  /** The data directory can't be written. */
  #isReadOnly = false
  #phaseReason = ''
  #diskFloorBytes: number | undefined
  #ending: Promise<void> | undefined

  constructor(readonly config: Config) {
    this.#telemetry.claimRow()
    const outbound = new Outbound({ allowed: config.outboundAllowlist, allowPrivate: config.outboundAllowPrivate })
    const held = heldBodies(config.limits)
    this.#objects = new ObjectIo(new ObjectStores(outbound, held))
    this.#dispatcher = new Dispatcher(config, this.#control, this.#telemetry, this.#objects)
    this.#dispatcher.onWritten('rotateEncryption', ({ status, body }) => auditRotation(status, Buffer.from(body).toString()))
    this.#dispatcher.onWritten('restore', ({ status, body }) => {
      if (status === 200)
        log.info('restored', { backup: (JSON.parse(Buffer.from(body).toString()) as { readonly restored: string }).restored })
    })
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

  lanesOverdueMs(): number {
    return this.#dispatcher.overdueMs()
  }

  isIndexStale(): boolean {
    return this.#control.indexStale
  }

  indexUnstored(): boolean {
    return this.#engine.storageState() !== 'good'
  }

  areVectorsUnstored(): boolean {
    return this.#vectorEngine.isStoreRefused()
  }

  damageFound(): number {
    return this.#control.findings
  }

  areWritesLost(): boolean {
    return this.#control.writesLost
  }

  isDiskFull(): boolean {
    return this.#control.diskFull
  }

  vectorConfig(): VectorConfig {
    return this.#embedding.describe()
  }

  /** Listening starts before the lanes are ready, so that health can say `warming_up`. */
  async start(): Promise<void> {
    printWarnings(this.config)
    try {
      const directory = openDataDirectory(this.config.path, this.config.httpMode === 'read')
      this.#isReadOnly = directory.isReadOnly
      lock(directory)
      if (!directory.isReadOnly) {
        sweepDataDirectory(directory)
        sweepBackups(backupDirectory(this.config.path, this.config.backupDirectory))
      }
      this.listenAddress = await this.#frontEnd.listen(this.config.httpAddr)
    } catch (error) {
      refuseStart(error instanceof Error ? error.message : String(error))
    }
    printListening(this.listenAddress)
    this.#telemetry.set('supervisor_restarts', Number(process.env[RESTARTS_VARIABLE] ?? 0))
    watchHealth(answerHealth, this, this.#telemetry, lastBackup(backupDirectory(this.config.path, this.config.backupDirectory)))
    this.#lanes = new Lanes(
      this.config,
      this.#control,
      this.#telemetry,
      this.#dispatcher,
      this,
      generationsOf(this.config.path),
      this.#vectors.block.buffer,
      this.#isReadOnly,
    )
  }

  onReady(): void {
    // Before anything is written: what is written without a provider is not embedded.
    void this.#embedding.load().then(() => this.#open())
  }

  #open(): void {
    if (this.#control.phase !== 'warming_up') return
    this.#control.phase = 'healthy'
    // What they find out can't be written down.
    if (!this.#isReadOnly) {
      this.#moves.start()
      this.#sweep.start()
      this.#clearSweep.start()
      this.#vectors.start()
    }
    void this.#embedding.lookAround()
    printReady(this.listenAddress, Date.now() - this.startedAt)
  }

  onFailed(reason: string): void {
    // A start that met a full disk is tried again: there may be space by then.
    if (this.#control.phase === 'warming_up') refuseStart(reason, this.#hasMetFullDisk() ? EXIT_FAILED : EXIT_REFUSED)
    this.onFatal(reason)
  }

  onFatal(reason: string): void {
    if (this.#control.phase === 'unhealthy') return
    // Another process reads what is on disk, and refuses writes: nobody need wait for it.
    if (this.#control.phase === 'healthy' && this.#hasMetFullDisk()) process.send?.(DISK_FULL_MESSAGE)
    this.#control.phase = 'unhealthy'
    this.#phaseReason = reason
    log.error('fatal', { reason })
    this.#dispatcher.failEverything()
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), LAST_WORDS_MS)
  }

  diskFloorBytes(): number {
    return (this.#diskFloorBytes ??= floorOf(this.config.path, this.config.diskReserveBytes))
  }

  #hasMetFullDisk(): boolean {
    const space = new DiskSpace(this.config.path, this.config.diskReserveBytes)
    return this.#control.diskFull || space.freeBytes() < space.floorBytes
  }

  /** Once; a second signal changes nothing. */
  async shutDown(): Promise<void> {
    this.#ending ??= this.#drainAndClose()
    await this.#ending
  }

  async #drainAndClose(): Promise<void> {
    if (this.#control.phase === 'unhealthy') return
    this.#control.phase = 'draining'
    log.info('shutting down: finishing what was accepted')
    this.#frontEnd.stopListening()
    const patience = setTimeout(() => {
      log.error(`shutdown: not finished within ${this.config.shutdownSecondsMax} s; ending`)
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
    log.info('stopped')
    process.exit(0)
  }
}

function lock({ path, lockPath, isReadOnly }: DataDirectory): void {
  try {
    lockFile(lockPath, isReadOnly)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    if (reason === 'locked') throw new Error(`${path} is in use by another process`)
    throw error
  }
}

function refuseStart(reason: string, code = EXIT_REFUSED): never {
  printRefusal("can't start", reason)
  process.exit(code)
}
