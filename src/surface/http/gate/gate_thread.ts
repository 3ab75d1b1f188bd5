/**
 * The program of the gate's thread: a TLS listener that requires client certificates, and a pipe from each
 * connection to the unix socket of an event loop. Each side is read only as fast as the other takes it.
 */
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { createServer, type SecureContextOptions, type TLSSocket } from 'node:tls'
import { workerData } from 'node:worker_threads'
import { addressKey } from '../../../access/client_key.js'
import { formatAddress } from '../../../config/options/values.js'
import { laneOperations } from '../../../operations/index.js'
import { canonicalAddress } from '../../../outbound/networks.js'
import { joinLog, log } from '../../../telemetry/log.js'
import { installTelemetry, Telemetry } from '../../../telemetry/registry.js'
import { LoopBlock } from '../../../wire/loop_block.js'
import type { SurfaceStart } from '../../../wire/messages/surface_messages.js'
import type { TlsFiles } from '../../../wire/tls_files.js'
import { ThreadPort } from '../../thread/thread_port.js'
import { TLS12_CIPHERS } from '../../tls/ciphers.js'
import { boundHandshakes } from '../../tls/handshakes.js'
import { LoopConnections } from '../connections/loop_connections.js'
import type { GateStart } from './gate_start.js'
import { proxyHeader, SignatureSearch } from './proxy_header.js'

const { port: messages, options } = workerData as SurfaceStart
const start = options as GateStart
joinLog(start.log, 'tls gate')
const telemetry = new Telemetry(
  start.telemetry,
  laneOperations.map((operation) => operation.name),
)
installTelemetry(telemetry)
const loops = new LoopBlock(start.loops)
loops.noteRow(start.loop, telemetry.claimRow())
const connections = new LoopConnections(loops, start.loop, telemetry)

const open = new Set<TLSSocket>()
let isDraining = false
let nextLoop = 0

const server = createServer(
  {
    ...contextOf(start.files),
    requestCert: true,
    rejectUnauthorized: true,
    handshakeTimeout: start.limits.TLS_HANDSHAKE_MS_MAX,
    noDelay: true,
    pauseOnConnect: false,
  },
  (client) => {
    open.add(client)
    client.on('error', () => undefined)
    client.on('close', () => {
      open.delete(client)
      reportDrained()
    })
    enter(client, start.sockets.length)
  },
)
// Connections are counted from their first packet on, as on the event loops: a handshake costs the most.
server.on('connection', (socket: Socket) => {
  socket.on('close', () => connections.closed())
  if (!connections.opened(() => addressKey(addressOf(socket)))) socket.destroy()
})
boundHandshakes(server, start.limits)

const port = new ThreadPort(messages, {
  onCrowded: (clients) => connections.refuse(clients),
  onDrain: () => {
    isDraining = true
    server.close()
    reportDrained()
  },
  onRenew: (files) => {
    try {
      server.setSecureContext(contextOf(files))
    } catch (error) {
      log.error('TLS: the certificate stays as it is', { reason: error })
    }
  },
})

/** In canonical form; empty if the client has gone. */
function addressOf(socket: Socket): string {
  return canonicalAddress(socket.remoteAddress ?? '') ?? ''
}

function contextOf({ cert, key, clientCa }: TlsFiles): SecureContextOptions {
  const ca = clientCa === null ? {} : { ca: readFileSync(clientCa) }
  return { cert: readFileSync(cert), key: readFileSync(key), ...ca, minVersion: 'TLSv1.2', ciphers: TLS12_CIPHERS }
}

/** Tries the loops in turn, because one that has ended is started again. */
function enter(client: TLSSocket, attempts: number): void {
  if (attempts === 0 || client.destroyed) {
    client.destroy()
    return
  }
  const loop = connect(start.sockets[nextLoop++ % start.sockets.length]!)
  const onRefused = (): void => enter(client, attempts - 1)
  loop.once('error', onRefused)
  loop.once('connect', () => {
    loop.off('error', onRefused)
    loop.on('error', () => undefined)
    loop.write(proxyHeader(addressOf(client)))
    join(client, loop)
  })
}

function join(client: TLSSocket, loop: Socket): void {
  const stallMsMax = start.limits.TLS_STALL_MS_MAX
  const search = new SignatureSearch()
  client.on('data', (chunk: Buffer) => {
    if (search.isIn(chunk)) {
      log.warn('tls: client disconnected, it sent a header of the PROXY protocol', { peer: client.remoteAddress ?? '' })
      client.destroy()
    } else if (!loop.write(chunk)) client.pause()
  })
  loop.on('drain', () => client.resume())
  loop.on('data', (chunk: Buffer) => {
    if (client.write(chunk)) return
    // A paused socket does not report that the loop has closed it.
    loop.pause()
    client.setTimeout(stallMsMax)
  })
  client.on('drain', () => {
    client.setTimeout(loop.destroyed ? stallMsMax : 0)
    loop.resume()
  })
  client.on('timeout', () => client.destroy())
  client.on('close', () => loop.destroy())
  // What the loop has sent before is sent to the client first.
  loop.on('close', () => {
    client.setTimeout(stallMsMax)
    client.destroySoon()
  })
  if (client.destroyed) loop.destroy()
}

function reportDrained(): void {
  if (isDraining && open.size === 0) port.drained()
}

server.on('error', (error: NodeJS.ErrnoException) =>
  port.refused(
    `${formatAddress(start.address)} can't be listened on: in use, or not an address of this machine (${error.code ?? error.message})`,
  ),
)
const { host, port: number } = start.address
server.listen({ port: number, ...(host === '' ? {} : { host }), exclusive: true }, () => {
  const address = server.address() as { readonly port: number }
  port.listening(formatAddress({ ...start.address, port: address.port }))
})
