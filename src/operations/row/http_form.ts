/**
 * The HTTP form of an operation, and the headers of cacheable responses. Pure data; read only by
 * src/surface/http.
 */

export interface HttpRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With `:name` for path parameters, which become part of the input. */
  readonly path: string
}

export interface HttpForm {
  /**
   * The first route is the canonical one. GET input comes from the query string. All other input comes from
   * the JSON body and, for fields missing there, from the query string.
   */
  readonly routes: readonly HttpRoute[]
  /** Status of a success, if it is not 200. */
  readonly successStatus?: 201 | 202 | 204
  /** Answers 202, with the same output, where a job of its own does the work on request. */
  readonly acceptsJobs?: true
  /** Field of the input that the header `Last-Event-ID` sets: a browser resumes a stream of events by it. */
  readonly resumesBy?: string
  /** Headers of a success. Values are whole numbers unless `type` says otherwise. */
  readonly headers?: readonly HttpHeader[]
  /** A request that cannot be run is answered 400 in the form of the output. */
  readonly refusesInOutput?: true
  /** The body has files instead of JSON. */
  readonly files?: FilesForm
}

/**
 * A body of type multipart/form-data, whose files are received into the data directory. Its text fields
 * become part of the input as those of a query string do; the field `files` of the input says what was
 * received (src/operations/row/received_files.ts).
 */
export interface FilesForm {
  /** Names of the parts that are files. */
  readonly parts: readonly string[]
  readonly filesMax: number
  /** Of one file: longer ones are received as far as that, and refused by the operation. */
  readonly fileBytesMax: number
  readonly bodyBytesMax: number
  /** Types of a body that is a file as a whole. Its options are in the query string. */
  readonly wholeTypes?: readonly string[]
}

type HttpHeader = readonly [name: string, description: string, type?: 'string']

/** Headers of cacheable responses, as declared by operations. */
export const cacheHeaders: readonly HttpHeader[] = [
  ['X-Cache', 'With `cacheTtl`: `hit` if the response came from the cache, otherwise `miss`.', 'string'],
  ['X-MDDB-Cache', 'With `cacheTtl`: same as `X-Cache`.', 'string'],
  ['X-Cache-Ttl', 'With `cacheTtl`: seconds for which the response may be served from the cache.'],
]
