/**
 * Limits the concurrent requests to one provider. Queries have priority over documents, and documents never
 * occupy all slots. A caller that gives up while waiting leaves the queue. Front-end thread.
 */
import { EMBEDDING_CALLS_WAITING_MAX, EMBEDDING_DOCUMENT_REQUESTS_AT_ONCE, EMBEDDING_REQUESTS_AT_ONCE } from '../../limits/embedding.js'
import type { EmbeddingRole } from './provider.js'
import { EmbeddingError } from './provider.js'

interface Waiting {
  readonly begin: () => void
}

export class Turns {
  readonly #running: Record<EmbeddingRole, number> = { query: 0, document: 0 }
  readonly #waiting: Readonly<Record<EmbeddingRole, Waiting[]>> = { query: [], document: [] }

  /**
   * Resolves when the caller may send its request. The slot is occupied until `done`.
   * @throws EmbeddingError if too many calls wait; the signal's reason if the signal ends the wait
   */
  async take(role: EmbeddingRole, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#hasCapacity(role)) {
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
      while (this.#waiting[next].length > 0 && this.#hasCapacity(next)) {
        this.#running[next]++
        this.#waiting[next].shift()?.begin()
      }
    }
  }

  #hasCapacity(role: EmbeddingRole): boolean {
    const { query, document } = this.#running
    if (query + document >= EMBEDDING_REQUESTS_AT_ONCE) return false
    return role === 'query' || document < EMBEDDING_DOCUMENT_REQUESTS_AT_ONCE
  }
}
