/** The pair with which threads accept connections by TLS. Plain values. */

/** PEM files that any thread can read. They do not change; a new pair has new paths. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
  /** Null: clients are not asked for a certificate. */
  readonly clientCa: string | null
}
