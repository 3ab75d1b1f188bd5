/**
 * What the front end asks of the thread of the local embedding model (worker/lane/local_model.ts), by
 * Piscina.
 */

export interface LocalTask {
  readonly model: string
  readonly texts: readonly string[]
}
