/**
 * The beginning of every thread that serves a surface beside HTTP: joins the shared memory, and makes what
 * the surface needs of the core. Once a thread. The programs of the threads are `*_thread.ts` beside this
 * file.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { Authenticator } from '../access/authenticator.js'
import { FailureReports } from '../access/failure_reports.js'
import { RateLimit } from '../access/rate_limit.js'
import { ForwardedEvents } from '../audit/forwarded_events.js'
import { lowerPriority } from '../base/thread_priority.js'
import type { Config } from '../config/config.js'
import { Admission } from '../dispatch/admission.js'
import type { Surface } from '../dispatch/surface.js'
import { laneOperations } from '../operations/index.js'
import { ResidentReads } from '../resident/resident_reads.js'
import { PortCore } from '../surface/thread/port_core.js'
import { type ThreadEvents, ThreadPort } from '../surface/thread/thread_port.js'
import { CounterRow, type SurfaceThreadStart } from '../surface/thread/thread_start.js'
import { receiveAuditEvents } from '../telemetry/audit.js'
import { joinLog } from '../telemetry/log.js'
import { openProfilePort } from '../telemetry/profile_port.js'
import { installTelemetry, Telemetry } from '../telemetry/registry.js'
import { ControlBlock } from '../wire/control_block.js'
import type { SurfaceStart } from '../wire/messages/surface_messages.js'
import type { TlsFiles } from '../wire/tls_files.js'

/** Threads of other surfaces than HTTP. Event loops of HTTP have LOOP_NICE, lanes 0. */
const SURFACE_THREAD_NICE = 5

interface SurfaceThread {
  readonly config: Config
  readonly surface: Surface
  readonly control: ControlBlock
  readonly telemetry: Telemetry
  readonly authenticator: Authenticator
  /** Of refused credentials. */
  readonly failures: FailureReports
  /** Of all surfaces together. Null: there is none. */
  readonly rateLimit: RateLimit | null
  readonly core: PortCore
  readonly port: ThreadPort
  /** Of the listening socket, which this thread owns; null: it accepts no connections. */
  readonly descriptor: number | null
  /** For connections from now on. Null: they are not encrypted. */
  readonly tls: TlsFiles | null
  /** What the surface itself has passed to its thread. */
  readonly own: unknown
}

/** @param name of the thread in its log lines */
export async function openSurfaceThread(
  name: string,
  events: Pick<ThreadEvents, 'onDrain' | 'onRenew' | 'onOrder'>,
): Promise<SurfaceThread> {
  const { port: messages, options } = workerData as SurfaceStart
  const { config, surface, descriptor, tls, own, ...shared } = options as SurfaceThreadStart
  joinLog(shared.log, name)
  // A flood on this surface must not slow down the event loops of HTTP and the lanes.
  lowerPriority(SURFACE_THREAD_NICE)
  const control = new ControlBlock(shared.control)
  const telemetry = new Telemetry(
    shared.telemetry,
    laneOperations.map((operation) => operation.name),
  )
  new CounterRow(shared.row).note(telemetry.claimRow())
  installTelemetry(telemetry)
  if (config.pprofEnabled) {
    const profiles = openProfilePort()
    parentPort?.postMessage(profiles, [profiles])
  }
  const reads = new ResidentReads(config, control, telemetry)
  await reads.serve(shared.generation)
  const port = new ThreadPort(messages, { ...events, onServe: (generation) => reads.serve(generation) })
  if (config.auditEnabled) receiveAuditEvents(new ForwardedEvents((lines) => port.audit(lines)))
  const core = new PortCore(port, new Admission(control), reads)
  const failures = new FailureReports((ip) => port.authFailure(ip))
  const authenticator = new Authenticator({
    jwtSecret: config.auth?.jwtSecret ?? null,
    control,
    identify: (asked) => core.identify(asked),
    failures,
  })
  const rateLimit = shared.rateLimit === null ? null : new RateLimit(config, shared.rateLimit)
  return { config, surface, control, telemetry, authenticator, failures, rateLimit, core, port, descriptor, tls, own }
}
