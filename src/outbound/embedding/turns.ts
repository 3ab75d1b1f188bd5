/**
 * Turns of requests to one provider: so many side by side, queries before documents, and documents never in
 * all places. Whoever gives up while it waits leaves its place. Front-end thread.
 */
import { EMBEDDING_CALLS_WAITING_MAX, EMBEDDING_DOCUMENT_REQUESTS_AT_ONCE, EMBEDDING_REQUESTS_AT_ONCE } from '../../limits/providers.js'
import { EmbeddingError } from './provider.js'
import type { EmbeddingRole } from './provider.js'

interface Waiting {
  readonly begin: () => void
}

export class Turns {
  readonly #running: Record<EmbeddingRole, number> = { query: 0, document: 0 }
  readonly #waiting: Readonly<Record<EmbeddingRole, Waiting[]>> = { query: [], document: [] }

  /**
   * Settles when it is one's turn, which lasts until `done`. @throws EmbeddingError where too many wait; the
   * signal's reason where that ends the wait
   */
  async take(role: EmbeddingRole, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#hasRoom(role)) {
      this.#running[role]++
      return
    }
    const { query, document } = this.#waiting
    if (query.length + document.length >= EMBEDDING_CALLS_WAITING_MAX)
      throw new EmbeddingError('unavailable', `more than ${EMBEDDING_CALLS_WAITING_MAX} calls wait for the embedding provider`)
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#waiting[role].splice(this.#waiting[role].indexOf(waiting), 1)
        reject(signal.reason as Error)
      }
      const waiting = {
        begin: () => {
          signal.removeEventListener('abort', leave)
          resolve()
        },
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting[role].push(waiting)
    })
  }

  done(role: EmbeddingRole): void {
    this.#running[role]--
    for (const next of ['query', 'document'] as const) {
      while (this.#waiting[next].length > 0 && this.#hasRoom(next)) {
        this.#running[next]++
        this.#waiting[next].shift()?.begin()
      }
    }
  }

  #hasRoom(role: EmbeddingRole): boolean {
    const { query, document } = this.#running
    if (query + document >= EMBEDDING_REQUESTS_AT_ONCE) return false
    return role === 'query' || document < EMBEDDING_DOCUMENT_REQUESTS_AT_ONCE
  }
}
