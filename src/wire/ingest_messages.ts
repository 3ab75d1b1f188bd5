/**
 * A bulk ingest on its way from the bulk lane, which has checked it, to the front end, which keeps its
 * documents until their turn.
 */

/** Documents that are prepared and committed together: the documents of an `ingestChunk` request. */
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
  /** Makes the job's record. */
  readonly command: Uint8Array
  readonly chunks: readonly IngestChunk[]
}
