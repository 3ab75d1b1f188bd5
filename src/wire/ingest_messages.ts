/**
 * A bulk ingest in transit from the bulk lane, which has checked it, to the front end, which keeps its
 * documents until they are processed.
 */

/** Documents that are prepared and committed together: the documents of one `ingestChunk` request. */
export interface IngestChunk {
  readonly documents: number
  /** Input of the request, encoded. */
  readonly body: Uint8Array
}

export interface SubmittedIngest {
  readonly id: string
  readonly collection: string
  /** Empty: nobody is notified. */
  readonly callbackUrl: string
  /** Name of the principal that submitted it; empty if it has none. */
  readonly actor: string
  /** Creates the job's record. */
  readonly command: Uint8Array
  readonly chunks: readonly IngestChunk[]
}
