/**
 * The program of a further event loop that serves HTTP, in a thread of its own: a front end whose core is
 * behind the port, and the reads that it answers itself.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { FailureReports } from '../access/failure_reports.js'
import { RateLimit } from '../access/rate_limit.js'
import { ForwardedEvents } from '../audit/forwarded_events.js'
import { formatAddress } from '../config/config.js'
import { Admission } from '../dispatch/admission.js'
import { boundReceiveBuffers, closeSocketsAtExit, raiseLoopPriority } from '../engine/loop_threads.js'
import { laneOperations } from '../operations/index.js'
import { ResidentReads } from '../resident/resident_reads.js'
import { LoopConnections } from '../surface/http/connections/loop_connections.js'
import { FrontEnd } from '../surface/http/front_end.js'
import { HttpLimit } from '../surface/http/http_limit.js'
import { authenticatorOf, budgetsOf, type HttpLoopStart } from '../surface/http/loop_start.js'
import { PortCore } from '../surface/thread/port_core.js'
import { ThreadPort } from '../surface/thread/thread_port.js'
import { receiveAuditEvents } from '../telemetry/audit.js'
import { joinLog } from '../telemetry/log.js'
import { openProfilePort } from '../telemetry/profile_port.js'
import { installTelemetry, Telemetry } from '../telemetry/registry.js'
import { ControlBlock } from '../wire/control_block.js'
import { LoopBlock } from '../wire/loop_block.js'
import type { SurfaceStart } from '../wire/messages/surface_messages.js'

const { port: messages, options } = workerData as SurfaceStart
const { config, surface, entry, loop, generation, ...shared } = options as HttpLoopStart

joinLog(shared.log, `http loop ${loop}`)
closeSocketsAtExit()
raiseLoopPriority()
const control = new ControlBlock(shared.control)
const telemetry = new Telemetry(
  shared.telemetry,
  laneOperations.map((operation) => operation.name),
)
const loops = new LoopBlock(shared.loops)
loops.noteRow(loop, telemetry.claimRow())
installTelemetry(telemetry)

if (config.pprofEnabled) {
  const profiles = openProfilePort()
  parentPort?.postMessage(profiles, [profiles])
}

const reads = new ResidentReads(config, control, telemetry)
await reads.serve(generation)
const connections = new LoopConnections(loops, loop, telemetry)
const port = new ThreadPort(messages, {
  onDrain: () => {
    // Connections that came before the message are taken in this turn of the loop.
    setImmediate(() => {
      frontEnd.stopListening()
      void frontEnd.idle().then(() => port.drained())
    })
  },
  onServe: (named) => reads.serve(named),
  onCrowded: (clients) => connections.refuse(clients),
  onRenew: (files) => frontEnd.renew(files),
})
if (config.auditEnabled) receiveAuditEvents(new ForwardedEvents((lines) => port.audit(lines)))
const core = new PortCore(port, new Admission(control), reads)
const budgets = budgetsOf(config, loops, loop, telemetry)
const limit = shared.rateLimit === null ? null : new HttpLimit(new RateLimit(config, shared.rateLimit), telemetry)
const failures = new FailureReports((ip) => port.authFailure(ip))
const authenticator = authenticatorOf(config, { control, identify: (asked) => core.identify(asked), failures })
const frontEnd = new FrontEnd({ config, core, control, telemetry, surface, authenticator, budgets, limit, connections, entry })
frontEnd.listen(config.httpAddr, true).then(
  (address) => {
    boundReceiveBuffers()
    port.listening(formatAddress(address))
  },
  (error: unknown) => port.refused((error as Error).message),
)
