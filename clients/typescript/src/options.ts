/** Options of a client and of one call. */

export interface ClientOptions {
  /** Address of the server, such as `http://127.0.0.1:11023`; a path in front of the API may follow. */
  readonly baseUrl: string
  /** Of a login: sent as `Authorization: Bearer`. It counts before an API key. */
  readonly token?: string | undefined
  /** Sent as `X-API-Key`. */
  readonly apiKey?: string | undefined
  /**
   * Time limit of a call with its retries; of a stream, of each wait for bytes. 0, Infinity: none. Default
   * 30 000.
   */
  readonly timeoutMs?: number | undefined
  /** How often a call that may be repeated is sent again. Default 3. */
  readonly retries?: number | undefined
  /** Instead of the `fetch` of the platform. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** Options of one call. They replace those of the client. */
export interface CallOptions {
  /** Ends the call; it rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  readonly retries?: number | undefined
  /** True: the caller knows that sending this call twice does no harm, so that it is retried as a read is. */
  readonly isRepeatable?: boolean | undefined
}

export const TIMEOUT_MS = 30_000
export const RETRIES = 3
