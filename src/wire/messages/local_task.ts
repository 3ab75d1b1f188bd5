/**
 * The task that the front end sends to the thread of the local embedding model (worker/lane/local_model.ts),
 * through Piscina.
 */

export interface LocalTask {
  readonly model: string
  readonly texts: readonly string[]
}
