/**
 * What makes vectors of texts: one model of one provider, made from a configuration, closed when another
 * takes its place. Retries, time limits, the circuit breaker and the checks of what came belong behind this
 * interface: its user sees vectors or an `EmbeddingError`, within bounded time. Front-end thread.
 */

/** Models made for search embed a question otherwise than the passages that answer it. */
export type EmbeddingRole = 'document' | 'query'

export interface EmbeddingProvider {
  /** `openai`, `voyage`, `ollama`, `cohere` or `local`. */
  readonly name: string
  readonly model: string
  /** Of every vector that it makes. */
  readonly dimensions: number
  /**
   * Identity of the vectors, at most `EMBEDDING_VARIANT_BYTES_MAX` bytes: those of another variant can't be
   * compared with them. No address and no key is part of it.
   */
  readonly variant: string
  /** Texts of one `embed`, at most. */
  readonly batchMax: number
  /**
   * @param texts 1 to `batchMax`, none empty
   * @returns one vector of `dimensions` finite values a text, in the order of the texts, in one array
   * @throws EmbeddingError, and nothing else; aborted by `signal` or by `close`: kind `unavailable`
   */
  embed(texts: readonly string[], role: EmbeddingRole, signal: AbortSignal): Promise<Float32Array>
  /** Ends what is under way. Further calls are refused as `unavailable`. */
  close(): Promise<void>
}

/**
 * `refused`: these texts, or this configuration, will not do better later. `unavailable`: another time may
 * succeed.
 */
export type EmbeddingErrorKind = 'refused' | 'unavailable'

/**
 * Says what happened in one line that may be logged and shown to clients: without keys, without the texts,
 * without what the provider wrote.
 */
export class EmbeddingError extends Error {
  /** @param retryAfterMs asking before is in vain; undefined where nothing is known */
  constructor(
    readonly kind: EmbeddingErrorKind,
    text: string,
    readonly retryAfterMs?: number,
    options?: ErrorOptions,
  ) {
    super(text, options)
    this.name = 'EmbeddingError'
  }
}
