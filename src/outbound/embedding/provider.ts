/**
 * Interface of an embedding provider: one model of one provider, created from a configuration, and closed
 * when another replaces it. Retries, time limits, the circuit breaker and the validation of responses are
 * behind this interface. The caller gets vectors or an `EmbeddingError`, within bounded time. Front-end
 * thread.
 */

/** Models for search embed a question differently from the passages that answer it. */
export type EmbeddingRole = 'document' | 'query'

export interface EmbeddingProvider {
  /** `openai`, `voyage`, `ollama`, `cohere` or `local`. */
  readonly name: string
  readonly model: string
  /** Of every vector that it returns. */
  readonly dimensions: number
  /**
   * Identity of the vectors; its length is bounded by that of the model's name. Vectors of different variants
   * are not comparable. Address and key are not part of it.
   */
  readonly variant: string
  /** Maximum number of texts of one `embed`. */
  readonly batchMax: number
  /**
   * @param texts 1 to `batchMax`, none empty
   * @returns one vector of `dimensions` finite values per text, in the order of the texts, in one array
   * @throws EmbeddingError and nothing else; if aborted by `signal` or by `close`, of kind `unavailable`
   */
  embed(texts: readonly string[], role: EmbeddingRole, signal: AbortSignal): Promise<Float32Array>
  /** Aborts calls in progress. Further calls fail as `unavailable`. */
  close(): Promise<void>
}

/**
 * `refused`: a retry with these texts or this configuration will fail again. `unavailable`: a later retry may
 * succeed.
 */
export type EmbeddingErrorKind = 'refused' | 'unavailable'

/**
 * Describes the failure in one line that may be logged and shown to clients. It contains no keys, no texts,
 * and nothing from the provider's response.
 */
export class EmbeddingError extends Error {
  /** @param retryAfterMs a retry before this time is pointless; undefined if unknown */
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
