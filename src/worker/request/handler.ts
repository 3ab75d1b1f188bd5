/**
 * The border between the transport-free part of a lane and what runs on it: what a handler gets and what it
 * gives back. A handler is synchronous: no lane awaits the network, and no read view is held across an
 * `await`.
 */
import type { Config } from '../../config/config.js'
import type { NamedDocument } from '../../wire/embedding_messages.js'
import type { EmbeddingBlock } from '../../wire/embedding_block.js'
import type { SettingsCache } from '../../domain/settings/collection_settings.js'
import type { Autocompleter } from '../../domain/fulltext/autocomplete.js'
import type { VectorCache } from '../../domain/embedding/text_vectors.js'
import type { Corrector } from '../../domain/spell/corrector.js'
import type { RelatedTerms } from '../../domain/fulltext/related_terms.js'
import type { Chunker } from '../../engine/chunker.js'
import type { HeldBodies } from '../../engine/held_bodies.js'
import type { VectorEngine } from '../../engine/vector_types.js'
import type { TermVectors } from '../../domain/search/term_vectors.js'
import type { Analyzer, SearchEngine, StopWord } from '../../engine/types.js'
import type { AnyOperation, InputOf } from '../../operations/operation.js'
import type { Authorized } from '../../access/authorize.js'
import type { Answer, Fact } from '../../wire/answer.js'
import type { StoreFirst } from '../../wire/messages.js'
import type { FetchObjects } from '../../wire/object_messages.js'
import type { ByteWriter } from '../../store/byte_writer.js'
import type { BodyObject } from '../../store/objects.js'
import type { TruthStore } from '../../store/truth_store.js'
import type { AccessRings } from '../../telemetry/access_rings.js'

/** What a lane owns for as long as it lives. One per thread. */
export interface LaneContext {
  readonly config: Config
  readonly store: TruthStore
  readonly settings: SettingsCache
  readonly completer: Autocompleter
  readonly corrector: Corrector
  readonly engine: SearchEngine
  readonly analyzer: Analyzer
  readonly related: RelatedTerms
  /** Objects of storage backends that are in memory; of all lanes. */
  readonly held: HeldBodies
  /** Which server it is, in a store that it shares with others: found out when it is first asked for. */
  readonly instance: () => Buffer
  readonly termVectors: TermVectors
  /** Vectors of texts that requests brought lately. */
  readonly vectorCache: VectorCache
  readonly vectorEngine: VectorEngine
  /** The vector engine has everything that the store has; while it has not, nothing of it may be answered. */
  readonly areVectorsReady: () => boolean
  /** Documents that wait for vectors, as the write lane counted them after it had told the vector engine. */
  readonly embeddingDepth: () => number
  readonly chunker: Chunker
  /** Has the front end fetch objects that an index lacks; no request waits for them. */
  readonly fetchObjects: FetchObjects
  /** Notifies the front end of changes (dispatch/notices.ts). */
  readonly notify: (topics: readonly string[]) => void
  /** Which provider makes vectors, if any. */
  readonly embedding: EmbeddingBlock
  /** Reads on their way to the write lane; undefined where nothing is tracked. */
  readonly accesses: AccessRings | undefined
  /** The data directory can't be written. */
  readonly isReadOnly: boolean
  /** Where answers are put together: each begins it anew, and it is copied before the next request runs. */
  readonly out: ByteWriter
}

/** What a handler may know of the request beside its input. */
export interface RequestContext {
  readonly operation: AnyOperation
  /** Who asks, and what of the store the caller may be shown. */
  readonly access: Authorized
  /**
   * True once the client has gone or the deadline has passed: long work polls it and throws
   * `serviceError('deadline')`.
   */
  shouldStop(): boolean
  /** The same for native code; absent where nothing can stop the request. */
  readonly stopWord?: StopWord
}

/**
 * An answer that is made in parts, as fast as its client takes them: nothing of it is held between two parts
 * but what the stream itself keeps, and no view of the store. One part is at most some milliseconds of work.
 * Bulk lane only.
 */
export interface AnswerStream {
  /** Of the first part. */
  readonly contentType: string
  readonly facts: readonly (readonly [Fact, string])[]
  /** The bytes are copied before anything else runs; none where nothing was found in the time of a part. */
  next(request: RequestContext): { readonly bytes: Uint8Array; readonly isLast: boolean }
  /** After the last part, or before where the client has gone. Once. */
  close(): void
}

/**
 * What a restore has prepared: the front end makes every lane serve it, and then answers; or answers that it
 * could not be done.
 */
export interface PreparedSwitch {
  readonly generation: string
  readonly body: string
}

/**
 * A function of a lane that runs an operation. What is wrong with the request is thrown before anything is
 * sent.
 */
type Run<Input, Result> = (lane: LaneContext, input: Input, request: RequestContext) => Result

/**
 * How an operation is run.
 * - `read`: on a read lane or the bulk lane; its answer goes to the client.
 * - `prepare`: the same, but what it returns are the bytes of a command (src/domain/commands.ts) that the
 *   front end carries to the write lane, which answers; or what the front end has to do before the command
 *   may be committed.
 * - `io`: what it returns is for the front end, which does what no lane may (wait, keep, ask the network) and
 *   then answers: src/dispatch/io.ts.
 * - `stream`: bulk lane; the answer is made in parts.
 * - `task`, `switch`: on the long lane, which may wait for files and processes; one at a time.
 */
export type Handler<Input = unknown> =
  | { readonly kind: 'read'; readonly run: Run<Input, Answer> }
  | { readonly kind: 'prepare'; readonly run: Run<Input, Uint8Array | StoreFirst> }
  | { readonly kind: 'io'; readonly run: Run<Input, unknown> }
  | { readonly kind: 'stream'; readonly run: Run<Input, AnswerStream> }
  | { readonly kind: 'task'; readonly run: Run<Input, Promise<Answer>> }
  | { readonly kind: 'switch'; readonly run: Run<Input, Promise<PreparedSwitch>> }

/**
 * A row and what runs it. The input that a lane has validated against the row is the input of the row's type.
 */
export type BoundHandler = readonly [row: AnyOperation, handler: Handler]

function bind<Row extends AnyOperation>(row: Row, handler: Handler<InputOf<Row>>): BoundHandler {
  return [row, handler as Handler]
}

export function read<Row extends AnyOperation>(row: Row, run: Run<InputOf<Row>, Answer>): BoundHandler {
  return bind(row, { kind: 'read', run })
}

/** Bytes that it returns are owned by the caller afterwards. */
export function prepare<Row extends AnyOperation>(row: Row, run: Run<InputOf<Row>, Uint8Array | StoreFirst>): BoundHandler {
  return bind(row, { kind: 'prepare', run })
}

export function io<Row extends AnyOperation>(row: Row, run: Run<InputOf<Row>, unknown>): BoundHandler {
  return bind(row, { kind: 'io', run })
}

export function stream<Row extends AnyOperation>(row: Row, run: Run<InputOf<Row>, AnswerStream>): BoundHandler {
  return bind(row, { kind: 'stream', run })
}

export function task<Row extends AnyOperation>(row: Row, run: Run<InputOf<Row>, Promise<Answer>>): BoundHandler {
  return bind(row, { kind: 'task', run })
}

export function switching<Row extends AnyOperation>(row: Row, run: Run<InputOf<Row>, Promise<PreparedSwitch>>): BoundHandler {
  return bind(row, { kind: 'switch', run })
}

/** What the write lane says of a command. */
export interface CommitAnswer extends Answer {
  /** Not an answer: the command has to run again once these objects are cached. */
  readonly wanted?: readonly BodyObject[]
  /** Documents that want vectors: the answer is for when the queue has capacity for them. */
  readonly queued?: readonly NamedDocument[]
}

/**
 * The commit side: runs on the write lane only. `reply` is called exactly once per command, after the flush
 * of its group, in LSN order.
 */
export interface WriteLane {
  commit(
    commands: readonly {
      readonly bytes: Uint8Array
      /** Name of the principal. */ readonly actor: string
      readonly reply: (answer: CommitAnswer) => void
    }[],
  ): Promise<void>
  /** Ends what an earlier process has left behind. To be called before anybody reads. */
  settleJobs(): Promise<void>
  /** Documents may be missing from the index that is being built. Resolves when that is on disk. */
  noteUnindexed(): Promise<void>
  /** Resolves when everything acknowledged is on disk and nothing is in flight. */
  close(): Promise<void>
}
