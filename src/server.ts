/**
 * The lifecycle of the server process: data directory and lock, lanes, listening, ready. On SIGTERM it stops
 * accepting, finishes what was accepted, and closes lanes and stores. Its parts are one ordered list of
 * services. Front-end thread. A storage fault or the loss of the write lane ends the process by SIGKILL:
 * after either, no statement of this process about a write can be trusted, and a clean exit can hang after an
 * I/O error.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { RateLimit } from './access/rate_limit.js'
import { answerAuditQuestions } from './audit/audit_answers.js'
import { AuditLog } from './audit/audit_log.js'
import { Accounts } from './background/access/accounts.js'
import { Converters } from './background/converters.js'
import { Embedding } from './background/embedding/embedding.js'
import { ActiveEmbedding, type VectorConfig } from './background/embedding/provider.js'
import { serveFeed } from './background/feed/change_feed.js'
import { serveIncoming } from './background/incoming.js'
import { ingestJobs } from './background/ingest_jobs.js'
import { objectChores } from './background/objects/object_chores.js'
import { ObjectIo } from './background/objects/object_io.js'
import { serveProfiles } from './background/profiles.js'
import { serveAdvice } from './background/search_advisor.js'
import { type Update, UpdateCheck } from './background/update_check.js'
import { Webhooks } from './background/webhooks/webhooks.js'
import { floorOf } from './base/free_space.js'
import type { ChoreTools } from './chore.js'
import { type AccessMode, type Config, ConfigError } from './config/config.js'
import { Dispatcher } from './dispatch/dispatcher.js'
import { Identities } from './dispatch/identities.js'
import { Lanes, type LanesListener } from './dispatch/lanes.js'
import { LocalCore } from './dispatch/local_core.js'
import { type LoopInputReaders, LoopOperations } from './dispatch/loop_operations.js'
import { modeOfAll, type RunningSurface } from './dispatch/surface.js'
import { closeCopy, freeSocketPath, ListeningSocket } from './engine/listening_sockets.js'
import { boundReceiveBuffers, raiseLoopPriority } from './engine/loop_threads.js'
import { lockFile, openEngine } from './engine/search/native_engine.js'
import { openSharedBodies } from './engine/shared_bodies.js'
import { openVectorEngine } from './engine/vectors/vector_engine.js'
import { printListening, printReady, printWarnings } from './greeting.js'
import { LAST_REQUESTS_MS_MAX, LAST_WORDS_MS } from './limits/process.js'
import { laneOperations } from './operations/index.js'
import { policyOf } from './outbound/destination.js'
import { ObjectStores } from './outbound/object_stores.js'
import { Outbound } from './outbound/safe_fetch.js'
import { ResidentReads } from './resident/resident_reads.js'
import { service, Services, sideBySide } from './services.js'
import { backupDirectory, lastBackup, sweepBackups } from './store/backup/backups.js'
import { DiskSpace } from './store/files/disk_space.js'
import { type DataDirectory, generationsOf, openDataDirectory, sweepDataDirectory } from './store/files/layout.js'
import { DISK_FULL_MESSAGE, EXIT_FAILED, EXIT_REFUSED, LISTENS_MESSAGE, RESTARTS_VARIABLE } from './supervisor.js'
import { descriptorWarning } from './surface/descriptors.js'
import type { SurfaceDefinition, SurfaceHost } from './surface/host.js'
import { surfaces } from './surface/index.js'
import { Credentials } from './surface/tls/credentials.js'
import { answerHealth, systemAnswers } from './system/loop_answers.js'
import { healthWatch } from './system/probes.js'
import type { ServerState } from './system/server_state.js'
import { log, printRefusal } from './telemetry/log.js'
import { installTelemetry, Telemetry } from './telemetry/registry.js'
import { ControlBlock, type Phase } from './wire/control_block.js'

/**
 * Starts the server. The process then lives as long as its sockets.
 * @param supervised whether it ends when its parent does
 */
export async function runServer(config: Config, supervised: boolean): Promise<void> {
  const server = new Server(config, credentialsOf(config))
  process.on('SIGTERM', () => void server.shutDown())
  process.on('SIGINT', () => void server.shutDown())
  if (supervised) process.on('disconnect', () => void server.shutDown())
  await server.start()
}

class Server implements ServerState, LanesListener {
  readonly startedAt = Date.now()
  readonly listenAddresses = new Map<string, string>()
  readonly surfaces = surfaces
  readonly mode: AccessMode
  readonly #control = ControlBlock.create()
  /** The engine that the lanes share; queried for health. */
  readonly #engine = openEngine()
  readonly #vectorEngine = openVectorEngine()
  readonly #telemetry = Telemetry.create(laneOperations.map((operation) => operation.name))
  readonly #dispatcher: Dispatcher
  readonly #objects: ObjectIo
  readonly #embedding: Embedding
  readonly #provider: ActiveEmbedding
  readonly #updates: UpdateCheck
  readonly #audit: AuditLog
  readonly #services: Services
  /** Those that run, by name, in the order of their definitions. */
  readonly #running: ReadonlyMap<string, RunningSurface>
  #lanes: Lanes | undefined
  readonly #converters = new Converters()
  #onLanesReady: () => void = () => undefined
  #phaseReason = ''
  #diskFloorBytes: number | undefined
  #ending: Promise<void> | undefined

  constructor(
    readonly config: Config,
    credentials: Credentials | null,
  ) {
    this.#telemetry.claimRow()
    installTelemetry(this.#telemetry)
    const outbound = new Outbound(policyOf(config), { bounds: config })
    const sharedBodies = openSharedBodies(config.limits)
    this.#objects = new ObjectIo(new ObjectStores(outbound, sharedBodies))
    const offered = offeredSurfaces(config)
    this.mode = modeOfAll(offered.map(({ mode }) => mode))
    const handlers = surfaces.flatMap((definition) => definition.loopHandlers?.(config) ?? [])
    const readers = Object.assign({}, ...surfaces.map(({ loopReaders }) => loopReaders)) as LoopInputReaders
    const loop = new LoopOperations([...systemAnswers(this), ...handlers], readers)
    this.#dispatcher = new Dispatcher(config, this.#control, this.#telemetry, this.#objects, loop, offered.length)
    this.#audit = new AuditLog({ config, telemetry: this.#telemetry, setRefusing: (refuses) => (this.#control.auditRefuses = refuses) })
    answerAuditQuestions(this.#dispatcher, this.#audit)
    const tools: ChoreTools = { role: this.#control, telemetry: this.#telemetry }
    this.#provider = new ActiveEmbedding(config, this.#dispatcher, this.#telemetry, tools)
    this.#embedding = new Embedding(config, this.#dispatcher, this.#control, this.#provider, sharedBodies, this.#telemetry, tools)
    const rateLimit = config.rateLimitEnabled ? new RateLimit(config) : null
    const accounts = config.auth === null ? undefined : new Accounts(config, this.#dispatcher, tools)
    const identities = new Identities(
      this.#dispatcher,
      (hash) => accounts?.noteKeyUse(hash),
      (ip) => accounts?.noteFailure(ip),
    )
    const core = new LocalCore(this.#dispatcher, identities, new ResidentReads(config, this.#control, this.#telemetry))
    const opened = offered.map(({ definition, mode }, at) => {
      const surface = { name: definition.name, mode, index: at + 1 }
      const openSocket = (host: string, port: number, path: string): ListeningSocket => new ListeningSocket(host, port, path)
      const shared = { config, dispatcher: this.#dispatcher, core, telemetry: this.#telemetry, rateLimit, credentials }
      const running = openedSurface(definition, { ...shared, surface, openSocket, freeSocketPath, closeCopy })
      return [definition.name, running] as const
    })
    this.#running = new Map(opened)
    if (config.pprofEnabled) serveProfiles(this.#dispatcher)
    serveAdvice(this.#dispatcher)
    if (config.sseEnabled) serveFeed(config, this.#dispatcher, identities)
    serveIncoming(this.#dispatcher, outbound, this.#converters, config)
    this.#updates = new UpdateCheck(config, tools)
    const backups = lastBackup(backupDirectory(config.path, config.backupDirectory))
    // Started in this order and stopped in reverse. Listening starts before the lanes: health then reports
    // `warming_up`. Sockets are closed before the lanes. Jobs end beside requests, for which some wait.
    this.#services = new Services([
      service('data directory', { start: () => this.#claimDirectory() }),
      // Stopped last but for the directory: everything before it may cause events.
      service('audit log', { start: () => this.#openAudit(), stop: () => this.#audit.stop() }),
      ...(credentials === null ? [] : [credentials.watch(tools)]),
      service('object stores', { stop: () => this.#objects.stores.close() }),
      service('listener', { start: () => this.#listen() }),
      healthWatch(answerHealth, this, this.#telemetry, backups, tools),
      this.#updates,
      service('lanes', { start: () => this.#openLanes(), stop: () => this.#lanes?.close() }),
      service('sockets', { stop: () => this.#closeSurfaces() }),
      // Event loops read by the env that the lanes have open.
      service('loop reads', { start: () => this.#serveLoops(), stop: () => this.#dispatcher.served.serve(null) }),
      service('dispatcher', { stop: () => this.#endDispatcher() }),
      // Nobody can log in before the administrator exists.
      ...(accounts === undefined ? [] : [accounts]),
      // After the requests, which may have files converted.
      this.#converters,
      sideBySide('chores', [
        // First: documents written before the provider is known are not embedded.
        this.#provider,
        ...objectChores({ config, dispatcher: this.#dispatcher, objects: this.#objects, telemetry: this.#telemetry }, tools),
        new Webhooks(config, this.#dispatcher, this.#telemetry, tools),
      ]),
      sideBySide('jobs and requests', [
        ...ingestJobs({ config, dispatcher: this.#dispatcher, outbound, telemetry: this.#telemetry }, tools),
        this.#embedding,
        service('profiles', { stop: () => this.#dispatcher.profiled.stop() }),
        service('requests', { start: () => this.#open(), stop: () => this.#finishRequests() }),
      ]),
    ])
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

  mcpSessions(): { readonly sse: number; readonly streamable: number } | undefined {
    if (!this.config.mcpEnabled) return undefined
    return { sse: this.#telemetry.gauge('mcp_sessions_sse'), streamable: this.#telemetry.gauge('mcp_sessions_streamable') }
  }

  update(): Update | undefined {
    return this.#updates.update
  }

  auditObstacle(): string | null {
    return this.#audit.obstacle()
  }

  auditNearlyFull(): number | null {
    return this.#audit.nearlyFull()
  }

  vectorConfig(): VectorConfig {
    return this.#provider.describe()
  }

  /** Resolves when requests are served. */
  async start(): Promise<void> {
    printWarnings(this.config)
    const few = descriptorWarning()
    if (few !== null) log.warn(few)
    await this.#services.start()
  }

  #claimDirectory(): void {
    try {
      const directory = openDataDirectory(this.config.path, this.mode === 'read')
      if (directory.isReadOnly) this.#control.role = 'read_only'
      lock(directory)
      if (directory.isReadOnly) return
      sweepDataDirectory(directory)
      sweepBackups(backupDirectory(this.config.path, this.config.backupDirectory))
    } catch (error) {
      refuseStart(error instanceof Error ? error.message : String(error))
    }
  }

  async #openAudit(): Promise<void> {
    await this.#audit.start().catch((error: unknown) => refuseStart(error instanceof Error ? error.message : String(error)))
  }

  async #listen(): Promise<void> {
    raiseLoopPriority()
    try {
      for (const [name, surface] of this.#running) this.listenAddresses.set(name, await surface.listen())
      boundReceiveBuffers()
    } catch (error) {
      refuseStart(error instanceof Error ? error.message : String(error))
    }
    printListening(this.listenAddresses)
    // A parent that has gone in the meantime is noticed by its channel.
    process.send?.(LISTENS_MESSAGE, undefined, undefined, () => undefined)
    this.#telemetry.set('supervisor_restarts', Number(process.env[RESTARTS_VARIABLE] ?? 0))
  }

  /** Resolves when all lanes are ready. */
  async #openLanes(): Promise<void> {
    const ready = new Promise<void>((resolve) => (this.#onLanesReady = resolve))
    this.#lanes = new Lanes(
      this.config,
      this.#control,
      this.#telemetry,
      this.#dispatcher,
      this,
      generationsOf(this.config.path),
      this.#embedding.block.buffer,
      this.#control.role === 'read_only',
    )
    await ready
  }

  async #serveLoops(): Promise<void> {
    await this.#dispatcher.served.serve(generationsOf(this.config.path).served())
  }

  onReady(): void {
    this.#onLanesReady()
  }

  #open(): void {
    if (this.#control.phase !== 'warming_up') return
    this.#control.phase = 'healthy'
    const { auth, authAdminUsername, tlsEnabled } = this.config
    printReady(this.listenAddresses, Date.now() - this.startedAt, auth === null ? null : authAdminUsername, tlsEnabled)
  }

  onFailed(reason: string): void {
    // A start that met a full disk is retried: there may be space by then.
    if (this.#control.phase === 'warming_up') refuseStart(reason, this.#hasMetFullDisk() ? EXIT_FAILED : EXIT_REFUSED)
    this.onFatal(reason)
  }

  onNoticed(topics: readonly string[]): void {
    this.#dispatcher.notices.emit(topics)
  }

  onFatal(reason: string): void {
    if (this.#control.phase === 'unhealthy') return
    // Another process can read the data on disk and refuses writes, so it starts at once.
    if (this.#control.phase === 'healthy' && this.#hasMetFullDisk()) process.send?.(DISK_FULL_MESSAGE)
    this.#control.phase = 'unhealthy'
    this.#phaseReason = reason
    log.error('fatal', { reason })
    this.#dispatcher.failEverything()
    this.#audit.flush()
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), LAST_WORDS_MS)
  }

  diskFloorBytes(): number {
    return (this.#diskFloorBytes ??= floorOf(this.config.path, this.config.diskReserveBytes))
  }

  #hasMetFullDisk(): boolean {
    const space = new DiskSpace(this.config.path, this.config.diskReserveBytes)
    return this.#control.diskFull || space.freeBytes() < space.floorBytes
  }

  /** Runs once; a second signal has no effect. */
  async shutDown(): Promise<void> {
    this.#ending ??= this.#drainAndClose()
    await this.#ending
  }

  async #drainAndClose(): Promise<void> {
    if (this.#control.phase === 'unhealthy') return
    await this.#leave()
    const patience = setTimeout(() => {
      log.error(`shutdown: not finished within ${this.config.shutdownSecondsMax} s; ending`)
      process.kill(process.pid, 'SIGKILL')
    }, this.config.shutdownSecondsMax * 1000)
    for (const surface of this.#running.values()) surface.stopListening()
    if (this.phase() === 'leaving') await this.#serveLast()
    // A fatal fault ends the process by itself.
    if (this.phase() === 'unhealthy') return
    this.#control.phase = 'draining'
    log.info('shutting down: finishing what was accepted')
    await this.#services.stop()
    clearTimeout(patience)
    log.info('stopped')
    process.exit(0)
  }

  /** Serves on while the probe of readiness says no, so that load balancers send nothing more. */
  async #leave(): Promise<void> {
    const { drainMs } = this.config
    if (drainMs === 0 || this.#control.phase !== 'healthy') return
    this.#control.phase = 'leaving'
    log.info('shutting down: not ready any more, still serving', { ms: drainMs })
    await sleep(drainMs)
    // Connections that the kernel has accepted are taken before the socket closes: it would reset them.
    await nextTurn()
  }

  /**
   * Balancers without checks of their own send until a connection is refused. What comes on connections that
   * were open by then is served, too.
   */
  async #serveLast(): Promise<void> {
    await Promise.race([this.#idle(), sleep(Math.min(LAST_REQUESTS_MS_MAX, (this.config.shutdownSecondsMax * 1000) / 4))])
  }

  async #finishRequests(): Promise<void> {
    // Clients that neither send nor read must not prevent the clean shutdown of the store.
    const slow = setTimeout(
      () => {
        log.warn('shutdown: connections with requests are ended, half of its time has passed')
        this.#closeSurfaces()
      },
      (this.config.shutdownSecondsMax * 1000) / 2,
    )
    await this.#idle()
    clearTimeout(slow)
  }

  async #idle(): Promise<void> {
    await Promise.all([...this.#running.values()].map((surface) => surface.idle()))
  }

  #closeSurfaces(): void {
    for (const surface of this.#running.values()) surface.close()
  }

  async #endDispatcher(): Promise<void> {
    await this.#dispatcher.idle()
    this.#dispatcher.stop()
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

/** The surfaces that the configuration turns on. */
function offeredSurfaces(config: Config): { readonly definition: SurfaceDefinition; readonly mode: AccessMode }[] {
  return surfaces.flatMap((definition) => {
    const mode = definition.mode(config)
    return mode === undefined ? [] : [{ definition, mode }]
  })
}

/** A surface may refuse its configuration. */
function openedSurface(definition: SurfaceDefinition, host: SurfaceHost): RunningSurface {
  try {
    return definition.open(host)
  } catch (error) {
    if (error instanceof ConfigError) return refuseStart(`configuration: ${error.message}`)
    throw error
  }
}

/** Null: no TLS. */
function credentialsOf(config: Config): Credentials | null {
  if (!config.tlsEnabled) return null
  if (config.httpAddr.kind === 'unix') refuseStart('SVC_TLS_ENABLED needs a TCP address: SVC_HTTP_ADDR is a unix socket')
  try {
    return new Credentials(config)
  } catch (error) {
    return refuseStart((error as Error).message)
  }
}

function refuseStart(reason: string, code = EXIT_REFUSED): never {
  printRefusal("can't start", reason)
  process.exit(code)
}
