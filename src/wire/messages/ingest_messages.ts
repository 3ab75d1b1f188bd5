/**
 * A bulk ingest in transit from the bulk lane, which has checked it, to the front end, which keeps its
 * documents until they are processed and then sends them back, chunk by chunk.
 */

/** Documents that are prepared and committed together: the documents of one `ingestChunk` request. */
export interface IngestChunk {
  readonly documents: number
  /** Input of the request, encoded. */
  readonly body: Uint8Array
}

/** The documents of a chunk, as the lane gets them back. */
export interface IngestDocuments {
  readonly keepTimes: boolean
  /** Parsed, not validated. */
  readonly documents: readonly unknown[]
}

/** @param documents as JSON, of which the caller has made each */
export function encodeIngestDocuments(documents: readonly string[], keepTimes: boolean): Uint8Array {
  return Buffer.from(`{"keepTimes":${keepTimes},"documents":[${documents.join(',')}]}`)
}

/** @param bytes from `encodeIngestDocuments` */
export function decodeIngestDocuments(bytes: Uint8Array): IngestDocuments {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()) as IngestDocuments
}

export interface SubmittedIngest {
  readonly id: string
  readonly collection: string
  /** Empty: nobody is notified. */
  readonly callbackUrl: string
  /** Creates the job's record. */
  readonly command: Uint8Array
  readonly chunks: readonly IngestChunk[]
}
