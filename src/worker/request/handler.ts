/**
 * The boundary between the transport-free part of a lane and its handlers: what a handler receives and
 * returns. A handler is synchronous: no lane awaits the network, and no read view is held across an `await`.
 */
import type { Authorized } from '../../access/authorize.js'
import type { Config } from '../../config/config.js'
import type { RightsCache } from '../../domain/access/rights_cache.js'
import type { KnownCollections } from '../../domain/collections/known_collections.js'
import type { Command } from '../../domain/commands.js'
import type { VectorCache } from '../../domain/embedding/text_vectors.js'
import type { Autocompleter } from '../../domain/fulltext/autocomplete.js'
import type { KnownPlans } from '../../domain/fulltext/known_plans.js'
import type { RelatedTerms } from '../../domain/fulltext/related_terms.js'
import type { SearchCounter } from '../../domain/search/search_stats.js'
import type { TermVectors } from '../../domain/search/term_vectors.js'
import type { SettingsCache } from '../../domain/settings/collection_settings.js'
import type { Corrector } from '../../domain/spell/corrector.js'
import type { SharedBodies } from '../../engine/shared_bodies.js'
import type { Chunker } from '../../engine/text/chunker.js'
import type { Analyzer, SearchEngine, StopWord } from '../../engine/types.js'
import type { VectorEngine } from '../../engine/vectors/vector_types.js'
import type { AnyOperation, InputOf } from '../../operations/row/operation.js'
import type { BodyObject } from '../../store/objects.js'
import type { ByteWriter } from '../../store/rows/byte_writer.js'
import type { TruthStore } from '../../store/truth_store.js'
import type { AccessRings } from '../../telemetry/access_rings.js'
import type { Answer, Fact } from '../../wire/answer.js'
import type { EmbeddingBlock } from '../../wire/embedding_block.js'
import type { NamedDocument } from '../../wire/messages/embedding_messages.js'
import type { StoreFirst } from '../../wire/messages/messages.js'
import type { FetchObjects } from '../../wire/messages/object_messages.js'

/** The resources of a lane for its lifetime. One per thread. */
export interface LaneContext {
  readonly config: Config
  readonly store: TruthStore
  readonly settings: SettingsCache
  /** Collections by name. */
  readonly collections: KnownCollections
  readonly rights: RightsCache
  readonly completer: Autocompleter
  readonly corrector: Corrector
  readonly engine: SearchEngine
  readonly analyzer: Analyzer
  readonly related: RelatedTerms
  readonly plans: KnownPlans
  /** In-memory objects of storage backends; shared by all lanes. */
  readonly sharedBodies: SharedBodies
  /** Identity of this server in an object store that it shares with others. Determined on first use. */
  readonly instance: () => Buffer
  readonly termVectors: TermVectors
  /** Vectors of texts of recent requests. */
  readonly vectorCache: VectorCache
  readonly vectorEngine: VectorEngine
  /** Whether the vector engine has all vectors of the store. Until then nothing of it may be answered. */
  readonly areVectorsReady: () => boolean
  /**
   * Number of documents that wait for vectors, as counted by the write lane after it had notified the vector
   * engine.
   */
  readonly embeddingDepth: () => number
  readonly chunker: Chunker
  /** Has the front end fetch objects that an index lacks. No request waits for them. */
  readonly fetchObjects: FetchObjects
  /** Notifies the front end of changes (dispatch/notices.ts). */
  readonly notify: (topics: readonly string[]) => void
  /** Whether the change feed has clients. */
  readonly isFeedWatched: () => boolean
  /** The provider that makes vectors, if any. */
  readonly embedding: EmbeddingBlock
  /** Reads to be stored by the write lane; undefined if nothing is tracked. */
  readonly accesses: AccessRings | undefined
  /** Counts of searches by query; undefined if they are not counted. */
  readonly searches: SearchCounter | undefined
  /** Whether the data directory cannot be written. */
  readonly isReadOnly: boolean
  /**
   * The buffer in which answers are built. Each answer starts it again, and it is copied before the next
   * request runs.
   */
  readonly out: ByteWriter
}

/** What a handler may know about the request beside its input. */
export interface RequestContext {
  readonly operation: AnyOperation
  /** The principal, and which parts of the store may be shown to it. */
  readonly access: Authorized
  /**
   * True once the client has disconnected or the deadline has passed. Long work polls it and throws
   * `serviceError('deadline')`.
   */
  shouldStop(): boolean
  /** The same for native code; absent if nothing can stop the request. */
  readonly stopWord?: StopWord
}

/**
 * An answer that is made in parts, as fast as its client takes them. Between two parts only the stream's own
 * state is kept, and no view of the store. One part is at most some milliseconds of work. Bulk lane only.
 */
export interface AnswerStream {
  /** Content type and facts of the first part. */
  readonly contentType: string
  readonly facts: readonly (readonly [Fact, string])[]
  /**
   * The bytes are copied before anything else runs. They are empty if nothing was found in the time of a
   * part.
   */
  next(request: RequestContext): { readonly bytes: Uint8Array; readonly isLast: boolean }
  /** Called once: after the last part, or earlier if the client has disconnected. */
  close(): void
}

/**
 * The result of preparing a restore. The front end makes every lane serve the generation and then answers, or
 * answers that this failed.
 */
export interface PreparedSwitch {
  readonly generation: string
  /** The accounts of the present store replace those of the generation. */
  readonly keepsAccounts: boolean
  readonly body: string
}

/** A lane function that runs an operation. Errors of the request are thrown before anything is sent. */
type Run<Input, Result> = (lane: LaneContext, input: Input, request: RequestContext) => Result

/**
 * How an operation is run.
 * - `read`: on a read lane or the bulk lane; its answer goes to the client.
 * - `prepare`: the same, but it returns a command (src/domain/commands.ts), which the front end carries to
 *   the write lane, and the write lane answers; or it returns what the front end has to do before the command
 *   may be committed.
 * - `io`: it returns a message for the front end, which does what no lane may do (wait, keep state, use the
 *   network) and then answers: src/dispatch/io.ts.
 * - `stream`: bulk lane; the answer is made in parts.
 * - `task`, `switch`: on the long lane, which may wait for files and processes; one at a time.
 */
export type Handler<Input = unknown> =
  | { readonly kind: 'read'; readonly run: Run<Input, Answer> }
  | { readonly kind: 'prepare'; readonly run: Run<Input, Command | StoreFirst> }
  | { readonly kind: 'io'; readonly run: Run<Input, unknown> }
  | { readonly kind: 'stream'; readonly run: Run<Input, AnswerStream> }
  | { readonly kind: 'task'; readonly run: Run<Input, Promise<Answer>> }
  | { readonly kind: 'switch'; readonly run: Run<Input, Promise<PreparedSwitch>> }

/**
 * A row and its handler. An input that the lane has validated against the row has the input type of the row.
 */
export type BoundHandler = readonly [row: AnyOperation, handler: Handler]

function bind<Row extends AnyOperation>(row: Row, handler: Handler<InputOf<Row>>): BoundHandler {
  return [row, handler as Handler]
}

export function read<Row extends AnyOperation>(row: Row, run: Run<InputOf<Row>, Answer>): BoundHandler {
  return bind(row, { kind: 'read', run })
}

export function prepare<Row extends AnyOperation>(row: Row, run: Run<InputOf<Row>, Command | StoreFirst>): BoundHandler {
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

/** The write lane's answer to a command. */
export interface CommitAnswer extends Answer {
  /** Not an answer: the command has to run again once these objects are cached. */
  readonly wanted?: readonly BodyObject[]
  /** Documents that need vectors: the answer is sent when the queue has capacity for them. */
  readonly queued?: readonly NamedDocument[]
}

/**
 * The commit side: runs on the write lane only. `reply` is called exactly once per command, after the flush
 * of its group, in LSN order.
 */
export interface WriteLane {
  commit(
    commands: readonly {
      readonly command: Command
      /** About what it adds to the store. */
      readonly bytes: number
      /** Name of the principal. */ readonly actor: string
      readonly reply: (answer: CommitAnswer) => void
    }[],
  ): Promise<void>
  /**
   * Settles the unfinished work of an earlier process, where the role allows it. Must be called before the
   * first read.
   */
  settleJobs(): Promise<void>
  /**
   * Records that documents may be missing from the index that is being built. Resolves when the record is on
   * disk.
   */
  noteUnindexed(): Promise<void>
  /** Resolves when everything acknowledged is on disk and nothing is in flight. */
  close(): Promise<void>
}
