/**
 * The gets that an event loop answers itself, by one native call, while the store is in memory. Everything
 * else is left to the lanes: documents that are missing, expired, sealed, long or not in memory, inputs with
 * anything but three plain names, and whatever a lane would answer with an error. One object a loop; every
 * call is synchronous, and no snapshot outlives it. docs/decisions/store/point-reads.md.
 */
import { authorize } from '../access/authorize.js'
import type { Config } from '../config/config.js'
import type { LoopReads } from '../dispatch/loop_reads.js'
import type { DispatchRequest } from '../dispatch/ticket.js'
import { openDocuments } from '../engine/document_reader.js'
import { openEngine } from '../engine/search/native_engine.js'
import { ServiceError } from '../errors.js'
import { GZIP_BYTES_MIN } from '../limits/documents.js'
import { TRUTH_MAP_BYTES, TRUTH_READERS_MAX } from '../limits/store.js'
import { KIB } from '../limits/units.js'
import { get } from '../operations/documents/documents.js'
import { generationPath } from '../store/files/layout.js'
import { keyringOf } from '../store/sealing/server_keyring.js'
import { TruthStore } from '../store/truth_store.js'
import { log } from '../telemetry/log.js'
import type { Telemetry } from '../telemetry/registry.js'
import type { Facts, OutgoingAnswer } from '../wire/answer.js'
import type { ControlBlock } from '../wire/control_block.js'
import type { EncodedInput } from '../wire/form.js'

/** Bytes of a request that a loop may answer itself: three names of at most 511 bytes, also as escapes. */
const RESIDENT_INPUT_BYTES_MAX = 4 * KIB
/**
 * Bytes of a document that a loop reads itself. Unpacking takes a microsecond for each 2 to 10 KiB, during
 * which no other connection of the loop is served.
 */
const RESIDENT_ANSWER_BYTES_MAX = 64 * KIB
/**
 * After a read has waited for the disk, a loop asks for this long whether pages are in memory before it
 * touches them: 1 to 5 us for each read instead of the wait for every connection.
 */
const RESIDENCY_DOUBTED_MS = 10_000

const NO_FACTS: Facts = []

export class ResidentReads implements LoopReads {
  readonly #config: Config
  readonly #control: ControlBlock
  readonly #telemetry: Telemetry
  readonly #space = Buffer.allocUnsafeSlow(RESIDENT_ANSWER_BYTES_MAX)
  /** For clients that accept compression: a lane compresses longer answers. */
  readonly #plainSpace = this.#space.subarray(0, GZIP_BYTES_MIN - 1)
  #store: TruthStore | undefined
  /** Changes of the generation follow one another. */
  #change = Promise.resolve()
  /** The reads of this turn of the event loop are checked for page faults at its end. */
  #isTurnOpen = false
  #faults = 0
  /** Until then (`performance.now()`), pages are not touched before they are known to be in memory. */
  #doubtedUntil = 0

  constructor(config: Config, control: ControlBlock, telemetry: Telemetry) {
    this.#config = config
    this.#control = control
    this.#telemetry = telemetry
  }

  /**
   * Reads the named generation from now on, or none. Lanes must have it open. Afterwards nothing of a
   * generation that was read before is open in this thread.
   */
  serve(generation: string | null): Promise<void> {
    return (this.#change = this.#change.then(() => this.#serve(generation)))
  }

  async #serve(generation: string | null): Promise<void> {
    const before = this.#store
    this.#store = undefined
    try {
      await before?.close()
      // Reads of tracked documents are counted by the lanes.
      if (generation === null || this.#config.temporal) return
      this.#store = this.#open(generation)
      this.#faults = this.#store.majorFaults()
    } catch (error) {
      log.warn('gets are answered by the lanes only, more slowly', { reason: error })
    }
  }

  /** @returns the answer, valid until the next call; null: the request is for a lane */
  answer(request: DispatchRequest): OutgoingAnswer | null {
    const store = this.#store
    if (store === undefined || request.admitted.operation !== get) return null
    const { fields = fieldsOf(request.input) } = request
    const named = namesOf(fields)
    if (named === null || !isAllowed(request.principal, named.collection)) return null
    // Whoever has fields takes no compressed answer.
    const space = request.fields === undefined && request.input.mayCompress ? this.#plainSpace : this.#space
    const length = store.readNamed(`${named.collection}\0${named.key}\0${named.lang}`, space, this.#isDoubted())
    this.#closeTurn(store)
    if (length <= 0) return null
    this.#telemetry.add('documents_read_natively', 1)
    this.#telemetry.add('documents_answered_on_loop', 1)
    return { code: null, contentType: null, facts: NO_FACTS, isCompressed: false, body: space.subarray(0, length) }
  }

  #open(generation: string): TruthStore {
    const shape = { mapBytes: TRUTH_MAP_BYTES, readersMin: TRUTH_READERS_MAX }
    const keyring = keyringOf(this.#config, openEngine())
    const path = generationPath(this.#config.path, generation)
    const isReadOnly = this.#control.role === 'read_only'
    return new TruthStore(path, 0, keyring, undefined, isReadOnly, (file) => openDocuments(file, shape))
  }

  #isDoubted(): boolean {
    if (this.#doubtedUntil === 0) return false
    if (performance.now() < this.#doubtedUntil) return true
    this.#doubtedUntil = 0
    return false
  }

  /** At the end of the turn: whether one of its reads has waited for the disk. */
  #closeTurn(store: TruthStore): void {
    if (this.#isTurnOpen) return
    this.#isTurnOpen = true
    setImmediate(() => {
      this.#isTurnOpen = false
      if (store !== this.#store) return
      const faults = store.majorFaults()
      if (faults === this.#faults) return
      this.#telemetry.add('loop_page_faults', faults - this.#faults)
      this.#faults = faults
      this.#doubtedUntil = performance.now() + RESIDENCY_DOUBTED_MS
    })
  }
}

/** The value of a short JSON body, if the request has nothing else. */
function fieldsOf({ form, body, head, params }: EncodedInput): unknown {
  if (form !== 'json' || body === null || body.length > RESIDENT_INPUT_BYTES_MAX || head !== '' || params.length > 0) return null
  try {
    // A byte above 127 becomes a character that no name read here may have.
    return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1'))
  } catch {
    return null
  }
}

interface Names {
  readonly collection: string
  readonly key: string
  readonly lang: string
}

/** The three names of a document, if there is nothing else. Names that are not plain text are left in. */
function namesOf(fields: unknown): Names | null {
  if (typeof fields !== 'object' || fields === null) return null
  for (const name in fields) if (name !== 'collection' && name !== 'key' && name !== 'lang') return null
  const { collection, key, lang } = fields as Readonly<Record<string, unknown>>
  return typeof collection === 'string' && typeof key === 'string' && typeof lang === 'string' ? { collection, key, lang } : null
}

/** The lane that gets the request refuses it. */
function isAllowed(principal: DispatchRequest['principal'], collection: string): boolean {
  try {
    authorize(get, principal, [collection], 'loop')
    return true
  } catch (error) {
    if (error instanceof ServiceError) return false
    throw error
  }
}
