/**
 * The sessions of the handshake era. Their number is bounded for each identity and in all: beyond it the
 * session that was not used for longest ends, and a client that comes back to it begins a new one, as the
 * protocol provides. Sessions that do something are never ended for others. One object a thread.
 */
import { randomBytes } from 'node:crypto'
import { Session, type Transport } from './session.js'

/** Bytes of a session's id: 128 random bits. */
const MCP_SESSION_ID_BYTES = 16
/** How often sessions are ended that were not used for MCP_SESSION_IDLE_MS. */
const MCP_SESSION_SWEEP_MS = 60_000

interface SessionBounds {
  readonly all: number
  readonly ofIdentity: number
  readonly idleMs: number
}

export class Sessions {
  readonly #bounds: SessionBounds
  readonly #onCount: (counts: Readonly<Record<Transport, number>>) => void
  readonly #sessions = new Map<string, Session>()
  readonly #byIdentity = new Map<string, Set<Session>>()
  readonly #counts: Record<Transport, number> = { streamable: 0, sse: 0 }
  readonly #sweep: NodeJS.Timeout

  /** @param onCount called with each change of the numbers of sessions */
  constructor(onCount: (counts: Readonly<Record<Transport, number>>) => void, bounds: SessionBounds) {
    this.#bounds = bounds
    this.#onCount = onCount
    this.#sweep = setInterval(() => this.expire(), Math.min(MCP_SESSION_SWEEP_MS, bounds.idleMs)).unref()
  }

  /** @returns null if there is no capacity for it: every session does something */
  open(transport: Transport, identity: string, revision: string, logLevel: string): Session | null {
    const own = this.#byIdentity.get(identity)
    if (own !== undefined && own.size >= this.#bounds.ofIdentity && !this.#endOldest(own)) return null
    if (this.#sessions.size >= this.#bounds.all && !this.#endOldest(this.#sessions.values())) return null
    const id = randomBytes(MCP_SESSION_ID_BYTES).toString('hex')
    const session = new Session(id, transport, identity, revision, logLevel)
    this.#sessions.set(id, session)
    const siblings = this.#byIdentity.get(identity) ?? new Set<Session>()
    this.#byIdentity.set(identity, siblings.add(session))
    this.#count(transport, 1)
    return session
  }

  /** @returns undefined if there is no such session, or it belongs to somebody else */
  find(id: string, transport: Transport, identity: string): Session | undefined {
    const session = this.#sessions.get(id)
    return session !== undefined && session.transport === transport && session.identity === identity ? session : undefined
  }

  /** Whether a session belongs to an identity, whatever its transport. */
  has(id: string, identity: string): boolean {
    return this.#sessions.get(id)?.identity === identity
  }

  end(session: Session): void {
    if (!this.#sessions.delete(session.id)) return
    const siblings = this.#byIdentity.get(session.identity)
    siblings?.delete(session)
    if (siblings?.size === 0) this.#byIdentity.delete(session.identity)
    session.end()
    this.#count(session.transport, -1)
  }

  /** Ends the sessions that were idle for too long. */
  expire(now = performance.now()): void {
    for (const session of this.#sessions.values()) if (!session.isBusy && now - session.usedAt >= this.#bounds.idleMs) this.end(session)
  }

  /** The server shuts down: requests in progress are answered, and streams end. */
  drain(): void {
    clearInterval(this.#sweep)
    for (const session of [...this.#sessions.values()]) session.drain()
  }

  /** @returns whether there was one */
  #endOldest(sessions: Iterable<Session>): boolean {
    let oldest: Session | undefined
    for (const session of sessions) if (!session.isBusy && (oldest === undefined || session.usedAt < oldest.usedAt)) oldest = session
    if (oldest !== undefined) this.end(oldest)
    return oldest !== undefined
  }

  #count(transport: Transport, change: number): void {
    this.#counts[transport] += change
    this.#onCount(this.#counts)
  }
}
