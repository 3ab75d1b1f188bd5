/** The form of an operation over HTTP. Pure data; read by src/surface/http alone. */

export interface HttpRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With `:name` for path parameters, which join the input. */
  readonly path: string
}

export interface HttpForm {
  /**
   * The first is the canonical one. GET input comes from the query string, all other input from the JSON body
   * and, for what is missing there, the query string.
   */
  readonly routes: readonly HttpRoute[]
  /** Status of a success, where it is not 200. */
  readonly successStatus?: 201 | 202 | 204
  /** Headers of a success. Values are whole numbers unless `type` says otherwise. */
  readonly headers?: readonly HttpHeader[]
}

export type HttpHeader = readonly [name: string, description: string, type?: 'string']
