/**
 * The border between the transport-free part of a lane and what runs on it: what a handler gets and what it
 * gives back. A handler is synchronous: no lane awaits the network, and no read view is held across an `await`.
 */
import type { Config } from '../../config.js'
import type { NamedDocument } from '../../wire/embedding_codec.js'
import type { FetchObjects } from '../../wire/object_codec.js'
import type { EmbeddingBlock } from '../../wire/embedding_block.js'
import type { SettingsCache } from '../../domain/collection_settings.js'
import type { Autocompleter } from '../../domain/fulltext/autocomplete.js'
import type { Corrector } from '../../domain/spell/corrector.js'
import type { RelatedTerms } from '../../domain/fulltext/related_terms.js'
import type { Chunker } from '../../engine/chunker.js'
import type { HeldBodies } from '../../engine/held_bodies.js'
import type { VectorEngine } from '../../engine/vector_types.js'
import type { TermVectors } from '../../domain/fulltext/term_vectors.js'
import type { Analyzer, SearchEngine, StopWord } from '../../engine/types.js'
import type { Operation } from '../../operations/operation.js'
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
  readonly vectors: TermVectors
  readonly vectorEngine: VectorEngine
  /** The vector engine has everything that the store has; while it has not, nothing of it may be answered. */
  readonly areVectorsReady: () => boolean
  /** Documents that wait for vectors, as the write lane counted them after it had told the vector engine. */
  readonly embeddingDepth: () => number
  readonly chunker: Chunker
  /** Which provider makes vectors, if any. */
  readonly embedding: EmbeddingBlock
  /** Reads on their way to the write lane; undefined where nothing is tracked. */
  readonly accesses: AccessRings | undefined
  /** The data directory can't be written. */
  readonly isReadOnly: boolean
  /** Has the front end fetch objects that an index lacks; no request waits for them. */
  readonly fetchObjects: FetchObjects
  /** Tells the front end that something has changed (dispatch/notices.ts). */
  readonly notify: (topics: readonly string[]) => void
  /** Where answers are put together: each begins it anew, and it is copied before the next request runs. */
  readonly out: ByteWriter
}

/** What a handler may know of the request beside its input. */
export interface RequestContext {
  readonly operation: Operation
  /** True once the client has gone or the deadline has passed: long work polls it and throws `serviceError('deadline')`. */
  shouldStop(): boolean
  /** The same for native code; absent where nothing can stop the request. */
  readonly stopWord?: StopWord
}

export interface Answer {
  readonly status: number
  /** Bytes are copied before the lane runs its next request. */
  readonly body: string | Uint8Array
  /** Default `application/json; charset=utf-8`. */
  readonly contentType?: string
  readonly headers?: readonly (readonly [string, string])[]
  /** It stays the same until the server ends: whoever has it need not get it again. */
  readonly isPage?: true
  /** One of several that make up the body: it goes out as it is. */
  readonly isPart?: boolean
  /** Not an answer: the command has to run again once these objects are at hand. */
  readonly wanted?: readonly BodyObject[]
  /** Documents that want vectors: the answer is for when they have room among those that wait. */
  readonly queued?: readonly NamedDocument[]
}

/**
 * An answer that is made in parts, as fast as its client takes them: nothing of it is held between two parts but what the stream itself keeps, and no view of the store.
 * One part is at most some milliseconds of work. Bulk lane only.
 */
export interface AnswerStream {
  /** Of the first part. */
  readonly contentType: string
  readonly headers: readonly (readonly [string, string])[]
  /** The bytes are copied before anything else runs; none where nothing was found in the time of a part. */
  next(request: RequestContext): { readonly bytes: Uint8Array; readonly isLast: boolean }
  /** After the last part, or before where the client has gone. Once. */
  close(): void
}

/** What is wrong with the request is thrown here, before anything is sent. */
export type StreamHandler = (lane: LaneContext, input: never, request: RequestContext) => AnswerStream

/** Runs on a read lane or the bulk lane; its answer goes to the client. */
export type ReadHandler = (lane: LaneContext, input: never, request: RequestContext) => Answer

/**
 * Runs on a read lane or the bulk lane; what it returns are the bytes of a command (src/domain/commands.ts) that the front end carries to the write lane, which answers.
 * The bytes are owned by the caller afterwards.
 */
export type PrepareHandler = (lane: LaneContext, input: never, request: RequestContext) => Uint8Array | StoreFirst

/** In place of a command: what the front end has to do with an object store before the command that comes with it may be committed. */
export class StoreFirst {
  /** @param message src/wire/object_codec.ts; owned by the caller afterwards */
  constructor(readonly message: Uint8Array) {}
}

/**
 * Runs on a read lane or the bulk lane; what it returns is for the front end, which does what no lane may (wait, keep, ask the network) and then answers: src/dispatch/io.ts. The bytes are owned
 * by the caller afterwards.
 */
export type IoHandler = (lane: LaneContext, input: never, request: RequestContext) => Uint8Array
/** On the long lane, which may wait for files and processes. One at a time. */
export type TaskHandler = (lane: LaneContext, input: never, request: RequestContext) => Promise<Answer>

/** What a restore has prepared: the front end makes every lane serve it, and then answers; or answers that it could not be done. */
export interface PreparedSwitch {
  readonly generation: string
  readonly answer: Answer
}

/** On the long lane. */
export type SwitchHandler = (lane: LaneContext, input: never, request: RequestContext) => Promise<PreparedSwitch>

export type Handler =
  | { readonly kind: 'read'; readonly run: ReadHandler }
  | { readonly kind: 'prepare'; readonly run: PrepareHandler }
  | { readonly kind: 'io'; readonly run: IoHandler }
  | { readonly kind: 'stream'; readonly run: StreamHandler }
  | { readonly kind: 'task'; readonly run: TaskHandler }
  | { readonly kind: 'switch'; readonly run: SwitchHandler }

/** The commit side: runs on the write lane only. `reply` is called exactly once per command, after the flush of its group, in LSN order. */
export interface WriteLane {
  commit(commands: readonly { readonly bytes: Uint8Array; readonly reply: (answer: Answer) => void }[]): Promise<void>
  /** Ends what an earlier process has left behind. To be called before anybody reads. */
  settleJobs(): Promise<void>
  /** Documents may be missing from the index that is being built. Resolves when that is on disk. */
  noteUnindexed(): Promise<void>
  /** Resolves when everything acknowledged is on disk and nothing is in flight. */
  close(): Promise<void>
}
