/**
 * The definition of an operation: one row, declared once. Routes, validation, authorisation, audit events,
 * OpenAPI, `/v1/endpoints` and metric labels are derived from it. A row is independent of protocols, but may
 * declare its form in each of them. Rows are pure data. Handlers are in `src/worker/handlers` and are bound
 * to rows, so that the front end loads no engine.
 */
import type { ErrorCode } from '../../errors.js'
import type { CollectionAccess } from './collection_access.js'
import type { HttpForm } from './http_form.js'
import type { Schema, ValueOf } from './json_schema.js'

/**
 * How an operation affects stored data, which determines the access modes in which it may run. `system` runs
 * in every mode (health, metrics, config).
 */
type Effect = 'read' | 'write' | 'system'

/**
 * `public`: everyone, also without credentials. `authenticated`: every user, whatever its rights. Otherwise
 * the user needs the permission on each collection that the operation touches.
 */
type Permission = 'public' | 'authenticated' | 'read' | 'write' | 'admin'

/**
 * Where an operation runs.
 * - `loop`: on the front end, without a store.
 * - `point`, `search`: on read lanes, never in one batch.
 * - `write`: prepared on a read lane, committed on the write lane.
 * - `heavy`: on the bulk lane.
 * - `long`: on the long lane, which may wait for files.
 * - `thread`: in the thread of a surface, which asks for further operations (dispatch/thread_operations.ts).
 */
type CostClass = 'loop' | 'point' | 'search' | 'write' | 'heavy' | 'long' | 'thread'

/** The name of an operation in each protocol beside HTTP. Null: the protocol has none. */
export interface ProtocolNames {
  /** RPC of the service `mddb.MDDB`. */
  readonly grpc: string | null
  /** Field of `Query` or `Mutation`. */
  readonly graphql: string | null
  /** A tool, or the URI of a resource or of a template of resources. */
  readonly mcp: string | null
}

/** The fields of every operation, external or internal. */
interface Core<Input extends Schema, Output extends Schema> {
  readonly name: string
  /** One line for `/v1/endpoints` and the reference. */
  readonly description: string
  readonly effect: Effect
  readonly cost: CostClass
  readonly input: Input
  readonly output: Output
  readonly deadlineMs: number
  /** Names of the constants (`npm run bounds`) that bound its work. Absent only where it runs on no lane. */
  readonly boundedBy?: readonly string[]
  /** The file whose loops poll the deadline, below `src`. Absent: the limits keep it short. */
  readonly polledIn?: string
  /**
   * It starts work that continues after the response and belongs to the current store: refused while a
   * restore is in progress.
   */
  readonly notDuringRestore?: true
  /**
   * A write that is permitted while the disk is full, because it frees space or takes none of the store's.
   */
  readonly freesSpace?: true
  /** The answer is made in parts: its handler is a `stream`. */
  readonly comesInParts?: true
  /** Bytes of a JSON body that are no UTF-8 reach the handler as lone surrogates, instead of a refusal. */
  readonly dropsInvalidText?: true
  /** Searches the vector index: 503 while that is being loaded. */
  readonly searchesVectors?: true
}

/** An operation for clients. */
export interface Operation<Input extends Schema = Schema, Output extends Schema = Schema> extends Core<Input, Output> {
  /** Heading on the reference page. */
  readonly group:
    | 'System'
    | 'Documents'
    | 'Revisions'
    | 'Collections'
    | 'Collection settings'
    | 'Full-text search'
    | 'Vector search'
    | 'Memory'
    | 'Export and backup'
    | 'Access'
    | 'Webhooks'
  readonly permission: Permission
  /** The collections on which the permission is checked. */
  readonly collections: CollectionAccess
  /** The user must have logged in: an API key is refused. */
  readonly needsLogin?: true
  /** Public, and says more to administrators: a valid credential is looked at, and a wrong one is ignored. */
  readonly knowsCaller?: true
  /** What it does depends on the address of the client. */
  readonly needsAddress?: true
  /** It waits for the hash of a password, and is refused before its body is read where too many do. */
  readonly waitsForHash?: true
  /** `action` of its audit event. Null: no event. */
  readonly audit: string | null
  /** Field of the response that the event includes. */
  readonly auditDetail?: string
  /** Offered only if the option of this name is on. */
  readonly feature?: string
  /** Content type of a success, if it is not JSON. */
  readonly contentType?: string
  /** Alternative content type that a request may ask for. */
  readonly otherContentType?: string
  /** Specific errors, in addition to those that follow from its input and its effect. */
  readonly errors?: readonly ErrorCode[]
  /** Responses may be cached if the request allows it (`cacheTtl`). */
  readonly isRepeatable?: boolean
  /**
   * Responses are small and depend only on the request and the store. They are cached for this number of
   * seconds, until the next write.
   */
  readonly keptSeconds?: number
  readonly protocols: ProtocolNames
  /** Absent: not offered over HTTP. */
  readonly http?: HttpForm
  /** Noun and method of the typed client, for what is offered over HTTP. Null: written by hand. */
  readonly client?: `${string}.${string}` | null
  /** A write that leaves the same state and gives the same answer, however often it is sent. */
  readonly isIdempotent?: true
  /** No write by its effect, and yet it may make something: a backup, what a document of GraphQL asks for. */
  readonly mayWrite?: true
  /** Null clears a field of the input, while an absent one keeps what is stored. */
  readonly nullClears?: true
}

/**
 * An operation that the server requests from its own lanes. No surface offers it, so there are no permission
 * checks and no audit events.
 */
export interface InternalOperation<Input extends Schema = Schema, Output extends Schema = Schema> extends Core<Input, Output> {
  readonly isInternal: true
}

/** All operations that a lane can run. */
export type AnyOperation = Operation | InternalOperation

export type InputOf<Row extends AnyOperation> = ValueOf<Row['input']>

export function isInternal(operation: AnyOperation): operation is InternalOperation {
  return 'isInternal' in operation
}
