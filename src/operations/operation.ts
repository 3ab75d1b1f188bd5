/**
 * An operation is one row, declared once. Routes, validation, authorisation, audit events, OpenAPI,
 * `/v1/endpoints` and metric labels are derived from it. A row knows no protocol; beside it stands,
 * optionally, its form in each. Rows are pure data. Handlers live in `src/worker/handlers` and are bound to
 * rows, so that the front end loads no engine.
 */
import type { ErrorCode } from '../errors.js'
import type { CollectionAccess } from './collection_access.js'
import type { HttpForm } from './http_form.js'
import type { Schema, ValueOf } from './json_schema.js'

/**
 * What an operation does to stored data: decides the access modes in which it may run. `system` runs in every
 * mode (health, metrics, config).
 */
export type Effect = 'read' | 'write' | 'system'

export type Permission = 'public' | 'read' | 'write' | 'admin'

/**
 * Where it runs. `loop`: on the front end, needs no store. `point`, `search`: read lanes, never in one batch.
 * `write`: prepared on a read lane, committed on the write lane. `heavy`: bulk lane. `long`: the long lane,
 * which may wait for files.
 */
export type CostClass = 'loop' | 'point' | 'search' | 'write' | 'heavy' | 'long'

/** What every operation has, whoever may ask for it. */
interface Core<Input extends Schema, Output extends Schema> {
  readonly name: string
  /** One line for `/v1/endpoints` and the reference. */
  readonly description: string
  readonly effect: Effect
  readonly cost: CostClass
  readonly input: Input
  readonly output: Output
  readonly deadlineMs: number
  /**
   * It begins work that outlives its answer and belongs to the present store: refused while a restore is
   * under way.
   */
  readonly notDuringRestore?: true
  /** A write that is admitted while the disk is full: it frees space, or takes none of the store's. */
  readonly freesSpace?: true
  /** Searches the index of vectors: 503 while that is being loaded. */
  readonly searchesVectors?: true
}

/** What clients may ask for. */
export interface Operation<Input extends Schema = Schema, Output extends Schema = Schema> extends Core<Input, Output> {
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
  readonly permission: Permission
  /** The collections on which the permission is asked. */
  readonly collections: CollectionAccess
  /** `action` of its audit event, or null where none is emitted. */
  readonly audit: string | null
  /** Field of its answer that the event names. */
  readonly auditDetail?: string
  /** Offered where the option of this name is on. */
  readonly feature?: string
  /** Content type of a success, when it is not JSON. */
  readonly contentType?: string
  /** Another one, which the request may ask for. */
  readonly otherContentType?: string
  /** Errors of its own, beside those that follow from its input and its effect. */
  readonly errors?: readonly ErrorCode[]
  /** Its answers may be cached where the request allows it (`cacheTtl`). */
  readonly isRepeatable?: boolean
  /**
   * Its answers are small and depend on the request and the store only: they are cached for so many seconds
   * while nothing is written.
   */
  readonly keptSeconds?: number
  /** Absent: not offered over HTTP. */
  readonly http?: HttpForm
}

/**
 * What the server asks of its own lanes. No surface offers it, so nobody is asked for a permission and
 * nothing is audited.
 */
export interface InternalOperation<Input extends Schema = Schema, Output extends Schema = Schema> extends Core<Input, Output> {
  readonly isInternal: true
}

/** What a lane can run. */
export type AnyOperation = Operation | InternalOperation

export type InputOf<Row extends AnyOperation> = ValueOf<Row['input']>

export function isInternal(operation: AnyOperation): operation is InternalOperation {
  return 'isInternal' in operation
}
