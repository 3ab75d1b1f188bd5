/**
 * The port of a surface in a thread of its own to the front end: what the thread is told, and what it
 * reports, beside the requests of its clients (port_core.ts). The other side is thread_surface.ts. One object
 * a thread.
 */
import type { MessagePort } from 'node:worker_threads'
import type { ForwardedLines } from '../../telemetry/audit.js'
import type { CoreReply, SurfaceReply, SurfaceRequest } from '../../wire/messages/surface_messages.js'
import type { ThreadOrder } from '../../wire/messages/thread_calls.js'
import type { TlsFiles } from '../../wire/tls_files.js'

export interface ThreadEvents {
  /**
   * The server shuts down: accept no new connections, and call `drained` when the last request has ended.
   */
  readonly onDrain: () => void
  /** Read this generation of the store from now on, or none. Default: the thread reads no store. */
  readonly onServe?: (generation: string | null) => Promise<void>
  /** Close further connections of these clients, and of no others. */
  readonly onCrowded?: (clients: readonly string[]) => void
  /** Accept connections with this pair from now on. Default: the thread has no TLS. */
  readonly onRenew?: (files: TlsFiles) => void
  /** Run these requests, or stop one. Default: the thread runs no operations. */
  readonly onOrder?: (order: ThreadOrder) => void
}

export class ThreadPort {
  readonly #port: MessagePort
  /** Takes what the core replies. */
  onReply: (reply: CoreReply) => void = () => undefined

  constructor(port: MessagePort, { onDrain, onServe, onCrowded, onRenew, onOrder }: ThreadEvents) {
    this.#port = port
    port.on('message', (reply: SurfaceReply) => {
      if (reply.kind === 'answer' || reply.kind === 'identity' || reply.kind === 'pushed' || reply.kind === 'pushEnd') this.onReply(reply)
      else if (reply.kind === 'run' || reply.kind === 'stop') onOrder?.(reply)
      else if (reply.kind === 'drain') onDrain()
      else if (reply.kind === 'end') process.exit()
      else if (reply.kind === 'crowded') onCrowded?.(reply.clients)
      else if (reply.kind === 'renew') onRenew?.(reply.files)
      else void onServe?.(reply.generation).then(() => this.post({ kind: 'served', number: reply.number }))
    })
  }

  post(message: SurfaceRequest, transferred: readonly ArrayBuffer[] = []): void {
    this.#port.postMessage(message, transferred)
  }

  audit(lines: ForwardedLines): void {
    this.post({ kind: 'audit', lines })
  }

  listening(address: string): void {
    this.post({ kind: 'listening', address })
  }

  refused(reason: string): void {
    this.post({ kind: 'refused', reason })
  }

  authFailure(ip: string): void {
    this.post({ kind: 'authFailure', ip })
  }

  drained(): void {
    this.post({ kind: 'drained' })
  }
}
