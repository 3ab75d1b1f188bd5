/**
 * Requests that the front end has to do something for before they go on: their operation's own io, objects that go to a store before the commit, objects that a lane lacks. Each keeps its slot
 * meanwhile, whoever still waits for it. Front-end thread only.
 */
import { DETOUR_BYTES_MAX } from '../limits.js'
import type { FrameKind, LaneAnswer } from '../wire/answer_codec.js'
import { refusal } from './answers.js'
import { decodeEmbedding, type RoomFirst } from '../wire/embedding_codec.js'
import { answerOfIo, type Io } from './io.js'
import { decodeMessage, type FetchFirst, type FetchObjects, type StoreFirst, type WantedObject } from '../wire/object_codec.js'
import { decodeTextsFirst, type TextsFirst } from '../wire/text_vectors_codec.js'
import type { OutgoingAnswer, Ticket } from './ticket.js'

/** The dispatcher's side of a detour. */
export interface DetourEnds {
  /** Has the write lane commit the command. @returns its answer, or null where nothing was written because nobody waits for the answer any more */
  commit(ticket: Ticket, command: Uint8Array): Promise<OutgoingAnswer | null>
  finish(ticket: Ticket, answer: OutgoingAnswer): void
  /** Into its queue again, with its body. */
  again(ticket: Ticket): void
  /** Nobody waits for its answer any more. */
  abandon(ticket: Ticket): void
  /** One that might have led to a commit does not any more, or its command is queued. */
  settled(): void
}

const KINDS: ReadonlySet<FrameKind> = new Set<FrameKind>(['io', 'store', 'fetch', 'room', 'embed'])

/** What requests wait for that have to do with objects. Never rejects. */
export interface ObjectDetours {
  /** Sends what a command needs and calls `commit`. @returns the refusal where a store did not take it */
  storeFirst(message: StoreFirst, isWanted: () => boolean, commit: () => Promise<void>): Promise<OutgoingAnswer | undefined>
  /** @param isForClient whether the answer goes to who may read the documents @returns the refusal where they can't be had */
  bring(objects: readonly WantedObject[], isForClient: boolean): Promise<OutgoingAnswer | undefined>
  /** For the index of a lane, outside of requests. */
  readonly bringEach: FetchObjects
}

/** What requests wait for that have to do with vectors. Never rejects. */
export interface EmbeddingDetours {
  /** The answer of a write, when its documents have room among those that wait for vectors. */
  readonly wait: (ticket: Ticket, message: RoomFirst) => Promise<OutgoingAnswer>
  /** Vectors of texts. @returns the refusal where they can't be had */
  readonly bring: (message: TextsFirst) => Promise<OutgoingAnswer | undefined>
}

export class Detours {
  readonly #io = new Map<string, { readonly run: Io; readonly commits: boolean }>()
  #embedding: EmbeddingDetours | undefined
  /** Requests whose command is not queued yet, and may be. */
  readonly #beforeCommit = new Set<Ticket>()

  /** Of the messages of lanes that are worked on. */
  #bytes = 0

  constructor(
    readonly objects: ObjectDetours,
    readonly ends: DetourEnds,
    readonly bytesMax = DETOUR_BYTES_MAX,
  ) {}

  /** @param commits whether it may have its ticket's command committed: a restore waits for it then */
  onIo(operation: string, io: Io, { commits = true } = {}): void {
    this.#io.set(operation, { run: io, commits })
  }

  onEmbedding(embedding: EmbeddingDetours): void {
    this.#embedding = embedding
  }

  /** Whether no command may come out of what is under way. What was prepared from one store must not be committed to the next: locations and seals mean something else there. */
  get isQuiet(): boolean {
    return this.#beforeCommit.size === 0
  }

  /** @returns false for a frame that asks for nothing of this kind */
  begin(ticket: Ticket, { kind, body }: LaneAnswer): boolean {
    if (!KINDS.has(kind)) return false
    // It waits in no queue: its deadline is all that may end it.
    ticket.queuedAt = Infinity
    if (kind === 'embed') void this.#embed(ticket, decodeTextsFirst(body))
    else if (kind === 'room') void this.#waitForRoom(ticket, decodeEmbedding(body))
    else if (kind === 'io') void this.#doIo(ticket, body)
    else if (kind === 'store') void this.#store(ticket, decodeMessage(body), body.length)
    else void this.#bring(ticket, decodeMessage(body), body.length)
    return true
  }

  async #doIo(ticket: Ticket, message: Uint8Array): Promise<void> {
    const io = this.#io.get(ticket.operation.name)
    if (io?.commits !== false) this.#beforeCommit.add(ticket)
    this.#finish(ticket, await answerOfIo(io?.run, message, { commit: (command) => this.#commit(ticket, command) }))
  }

  async #waitForRoom(ticket: Ticket, message: RoomFirst): Promise<void> {
    const answer = (await this.#embedding?.wait(ticket, message)) ?? refusal('internal')
    if (ticket.onCommitted === null) this.ends.finish(ticket, answer)
    else {
      ticket.onCommitted(answer)
      ticket.onCommitted = null
    }
  }

  /** The objects of a command are under way until the write lane has said what became of it. */
  async #store(ticket: Ticket, message: StoreFirst, bytes: number): Promise<void> {
    this.#beforeCommit.add(ticket)
    const isWanted = (): boolean => ticket.sink !== null
    const refused = await this.#counted(bytes, () =>
      this.objects.storeFirst(message, isWanted, async () => {
        const answer = await this.#commit(ticket, message.command)
        this.#finish(ticket, answer ?? refusal('deadline'))
      }),
    )
    if (refused !== undefined) this.#finish(ticket, refused)
  }

  /** The request runs again with the objects that it has lacked, as often as there are more, until its deadline. */
  async #bring(ticket: Ticket, { objects, body, isCommand }: FetchFirst, bytes: number): Promise<void> {
    if (isCommand) this.#beforeCommit.add(ticket)
    const refused = await this.#counted(bytes, () => this.objects.bring(objects, ticket.operation.http.length > 0))
    this.#goOn(ticket, refused, body, isCommand)
    this.#settle(ticket)
  }

  /** The same for vectors of its texts. */
  async #embed(ticket: Ticket, message: TextsFirst): Promise<void> {
    this.#goOn(ticket, await this.#embedding?.bring(message), message.body, false)
  }

  #goOn(ticket: Ticket, refused: OutgoingAnswer | undefined, body: Uint8Array, isCommand: boolean): void {
    if (refused === undefined) {
      // Not direct: in the queue of commits it would pass by a restore, which holds back the other.
      if (ticket.direct && !isCommand) ticket.queue = 'prepare'
      ticket.direct = false
      ticket.body = body
      this.ends.again(ticket)
    } else if (ticket.onCommitted !== null) {
      ticket.onCommitted(refused)
      ticket.onCommitted = null
    } else if (ticket.stream !== 0) this.#endParts(ticket, refused)
    else this.ends.finish(ticket, refused)
  }

  /** What is held here outlives its request's place in the bound of bodies, which a client that goes gives back. One that is alone is never refused, however large it is. */
  async #counted(bytes: number, run: () => Promise<OutgoingAnswer | undefined>): Promise<OutgoingAnswer | undefined> {
    if (this.#bytes > 0 && this.#bytes + bytes > this.bytesMax) return refusal('overloaded')
    this.#bytes += bytes
    try {
      return await run()
    } finally {
      this.#bytes -= bytes
    }
  }

  /** The lane that has the rest of the answer has to hear that nobody wants it. */
  #endParts(ticket: Ticket, refused: OutgoingAnswer): void {
    const { sink } = ticket
    this.ends.abandon(ticket)
    this.ends.again(ticket)
    sink?.answer(refused)
  }

  #commit(ticket: Ticket, command: Uint8Array): Promise<OutgoingAnswer | null> {
    const committed = this.ends.commit(ticket, command)
    this.#settle(ticket)
    return committed
  }

  #finish(ticket: Ticket, answer: OutgoingAnswer): void {
    this.ends.finish(ticket, answer)
    this.#settle(ticket)
  }

  #settle(ticket: Ticket): void {
    if (this.#beforeCommit.delete(ticket)) this.ends.settled()
  }
}
