/**
 * What an operation is: one row, declared once, from which routes, validation, OpenAPI, `/v1/endpoints`, metrics labels and permissions are derived.
 * Rows are pure data: handlers live in `src/worker/handlers`, joined by name in a checked map, so that the front end loads no engine.
 */
import type { CATALOGUE } from '../errors.js'
import type { Schema, ValueOf } from './json_schema.js'

/** What an operation does to stored data: decides the access modes in which it may run. `system` runs in every mode (health, metrics, config). */
export type Effect = 'read' | 'write' | 'system'

export type Permission = 'public' | 'read' | 'write' | 'admin'

/**
 * Where it runs. `loop`: on the front end, needs no store. `point`, `search`: read lanes, never in one batch. `write`: prepared on a read lane, committed on the write lane.
 * `heavy`: bulk lane. `long`: the long lane, which may wait for files.
 */
export type CostClass = 'loop' | 'point' | 'search' | 'write' | 'heavy' | 'long'

/** Where the names of the collections stand that the operation touches. `server`: none in particular (permission is asked on `*`). `job`: that of the bulk ingest with the input's id. */
export type CollectionExtractor =
  'server' | 'job' | { readonly field: string; /** The list of objects that have it; else the input itself does. */ readonly list?: string }

/** What a server may be configured to do without: operations of a feature that is switched off are not there. */
export type Feature = 'spell' | 'temporal'

export interface HttpRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With `:name` for path parameters, which join the input. */
  readonly path: string
}

export interface Operation<Input extends Schema = Schema, Output extends Schema = Schema> {
  readonly name: string
  /** Heading under which the reference page lists it. */
  readonly group:
    | 'System'
    | 'Documents'
    | 'Revisions'
    | 'Collections'
    | 'Collection settings'
    | 'Full-text search'
    | 'Vector search'
    | 'Export and backup'
  /** One line for `/v1/endpoints` and OpenAPI. */
  readonly description: string
  readonly effect: Effect
  readonly permission: Permission
  readonly collection: CollectionExtractor
  readonly cost: CostClass
  /** The first is the canonical one. GET input comes from the query string, all other input from the JSON body and, for what is missing there, the query string. */
  readonly http: readonly HttpRoute[]
  readonly input: Input
  /** What it begins goes on after its answer, and would go with the store that a restore replaces: refused while one is under way. */
  readonly notDuringRestore?: true
  /** A write that is taken while the disk is full: it gives space back, or takes none of the store's. */
  readonly freesSpace?: true
  /** Its body is bytes that the front end made, the input's `message`. Not for clients. */
  readonly isBinary?: true
  readonly output: Output
  /** Status of a success, where it is not 200. */
  readonly successStatus?: 201 | 202 | 204
  /** Only offered where this is switched on. */
  readonly feature?: Feature
  /** Content type of a success, when it is not JSON. */
  readonly contentType?: string
  /** Another one, which the request may ask for. */
  readonly otherContentType?: string
  /** Errors of its own, beside those that follow from its input and its effect. */
  readonly errors?: readonly (keyof typeof CATALOGUE)[]
  /** Searches the index of vectors: 503 while that is made equal to the store. */
  readonly searchesVectors?: true
  /** Headers of a success: name and meaning. All are whole numbers unless they say otherwise. */
  readonly answerHeaders?: readonly (readonly [name: string, description: string, type?: 'string'])[]
  /** Its answers may be given again where the request allows it (`cacheTtl`). */
  readonly isRepeatable?: boolean
  /** Its answers are small and follow from the request and the store: they are given again for so many seconds while nothing is written, without a word about it. */
  readonly keptSeconds?: number
  readonly deadlineMs: number
  /** Name in the audit log, or null where nothing is recorded. */
  readonly audit: string | null
}

export type InputOf<Row extends Operation> = ValueOf<Row['input']>
