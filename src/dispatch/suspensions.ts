/**
 * Requests that are suspended while the front end does something for them, and then go on: the io of their
 * operation, objects that go to a store before the commit, objects or vectors that a lane lacks, capacity of
 * the embedding queue, a switch to a restored generation. Each keeps its slot meanwhile, whoever still waits
 * for it. Front-end thread only.
 */
import { SUSPENDED_BYTES_MAX } from '../limits/dispatch.js'
import { isInternal, type AnyOperation } from '../operations/operation.js'
import { log } from '../telemetry/log.js'
import type { OutgoingAnswer } from '../wire/answer.js'
import type { LaneAnswer } from '../wire/answer_codec.js'
import {
  decodeMessage,
  type CapacityFirst,
  type FetchFirst,
  type IoFirst,
  type RequestMessage,
  type StoreFirst,
  type SwitchFirst,
  type TextsFirst,
} from '../wire/messages.js'
import type { FetchObjects } from '../wire/object_messages.js'
import { refusal, refusalWith, successOf } from './answers.js'
import { answerOfIo, type Io } from './io.js'
import type { Ticket } from './ticket.js'

/** The dispatcher's side of a suspension. */
export interface Resumption {
  /**
   * Has the write lane commit the command. @returns its answer, or null where nothing was written because
   * nobody waits for the answer any more
   */
  commit(ticket: Ticket, command: Uint8Array): Promise<OutgoingAnswer | null>
  finish(ticket: Ticket, answer: OutgoingAnswer): void
  /** Into its queue again, with its body. */
  again(ticket: Ticket): void
  /** Nobody waits for its answer any more. */
  abandon(ticket: Ticket): void
  /** One that might have led to a commit does not any more, or its command is queued. */
  settled(): void
  /** Makes every lane serve the generation. @throws Error when the one before is served as it was */
  switchTo(generation: string): Promise<void>
}

/** Bodies in storage backends. Never rejects. */
export interface ObjectTransfers {
  /**
   * Sends what the command needs, as long as somebody waits for it, and calls `commit`. @returns the refusal
   * where a store did not take it
   */
  storeFirst(message: StoreFirst, isWanted: () => boolean, commit: () => Promise<void>): Promise<OutgoingAnswer | undefined>
  /**
   * @param isForClient whether the answer goes to a client that may read the documents @returns the refusal
   * where they can't be had
   */
  bring(objects: FetchFirst['objects'], isForClient: boolean): Promise<OutgoingAnswer | undefined>
  /** For the index of a lane, outside of requests. */
  readonly bringEach: FetchObjects
}

/** Vectors. Never rejects. */
export interface VectorTransfers {
  /** The answer of a write, when its documents have capacity among those that wait for vectors. */
  readonly wait: (ticket: Ticket, message: CapacityFirst) => Promise<OutgoingAnswer>
  /** Vectors of texts. @returns the refusal where they can't be had */
  readonly bring: (message: TextsFirst) => Promise<OutgoingAnswer | undefined>
}

export class Suspensions {
  readonly #io = new Map<AnyOperation, { readonly run: Io; readonly commits: boolean }>()
  #vectors: VectorTransfers | undefined
  /** Requests whose command is not queued yet, and may be. */
  readonly #beforeCommit = new Set<Ticket>()

  /** Of the messages of lanes that are worked on. */
  #bytes = 0

  constructor(
    readonly objects: ObjectTransfers,
    readonly resumption: Resumption,
    readonly bytesMax = SUSPENDED_BYTES_MAX,
  ) {}

  /** @param commits whether it may have its ticket's command committed: a restore waits for it then */
  onIo<Message>(operation: AnyOperation, io: Io<Message>, { commits = true } = {}): void {
    this.#io.set(operation, { run: io as Io, commits })
  }

  onVectors(vectors: VectorTransfers): void {
    this.#vectors = vectors
  }

  /**
   * Whether no command may come out of what is under way. What was prepared from one store must not be
   * committed to the next: locations and seals mean something else there.
   */
  get isQuiet(): boolean {
    return this.#beforeCommit.size === 0
  }

  /** @param answer a frame of kind `message` */
  begin(ticket: Ticket, { body }: LaneAnswer): void {
    // It waits in no queue: its deadline is all that may end it.
    ticket.queuedAt = Infinity
    const message = decodeMessage<RequestMessage>(body)
    switch (message.kind) {
      case 'embed':
        return void this.#embed(ticket, message)
      case 'capacity':
        return void this.#waitForCapacity(ticket, message)
      case 'io':
        return void this.#doIo(ticket, message)
      case 'store':
        return void this.#store(ticket, message, body.length)
      case 'fetch':
        return void this.#bring(ticket, message, body.length)
      case 'switch':
        return void this.#switch(ticket, message)
    }
  }

  /** The answer of a restore waits until every lane serves what it has prepared. */
  async #switch(ticket: Ticket, { generation, body }: SwitchFirst): Promise<void> {
    let answer = successOf(body)
    try {
      if (ticket.sink !== null) await this.resumption.switchTo(generation)
      log.info('restored', { backup: (JSON.parse(body) as { readonly restored: string }).restored })
    } catch (error) {
      log.error('restore', { fault: error })
      answer = refusalWith('restoreFailed', `restore failed: ${(error as Error).message}`)
    }
    this.resumption.finish(ticket, answer)
  }

  async #doIo(ticket: Ticket, { message }: IoFirst): Promise<void> {
    const io = this.#io.get(ticket.operation)
    if (io?.commits !== false) this.#beforeCommit.add(ticket)
    this.#finish(ticket, await answerOfIo(io?.run, message, { commit: (command) => this.#commit(ticket, command) }))
  }

  async #waitForCapacity(ticket: Ticket, message: CapacityFirst): Promise<void> {
    const answer = (await this.#vectors?.wait(ticket, message)) ?? refusal('internal')
    if (ticket.onCommitted === null) this.resumption.finish(ticket, answer)
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

  /**
   * The request runs again with the objects that it has lacked, as often as there are more, until its
   * deadline.
   */
  async #bring(ticket: Ticket, { objects, body, isCommand }: FetchFirst, bytes: number): Promise<void> {
    if (isCommand) this.#beforeCommit.add(ticket)
    const refused = await this.#counted(bytes, () => this.objects.bring(objects, !isInternal(ticket.operation)))
    this.#goOn(ticket, refused, body, isCommand)
    this.#settle(ticket)
  }

  /** The same for vectors of its texts. */
  async #embed(ticket: Ticket, message: TextsFirst): Promise<void> {
    this.#goOn(ticket, await this.#vectors?.bring(message), message.body, false)
  }

  #goOn(ticket: Ticket, refused: OutgoingAnswer | undefined, body: Uint8Array, isCommand: boolean): void {
    if (refused === undefined) {
      // Not direct: in the queue of commits it would pass by a restore, which holds back the other.
      if (ticket.direct && !isCommand) ticket.queue = 'prepare'
      ticket.direct = false
      ticket.body = body
      this.resumption.again(ticket)
    } else if (ticket.onCommitted !== null) {
      ticket.onCommitted(refused)
      ticket.onCommitted = null
    } else if (ticket.stream !== 0) this.#endParts(ticket, refused)
    else this.resumption.finish(ticket, refused)
  }

  /**
   * What is held here outlives its request's place in the bound of bodies, which a client that goes gives
   * back. One that is alone is never refused, however large it is.
   */
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
    this.resumption.abandon(ticket)
    this.resumption.again(ticket)
    sink?.answer(refused)
  }

  #commit(ticket: Ticket, command: Uint8Array): Promise<OutgoingAnswer | null> {
    const committed = this.resumption.commit(ticket, command)
    this.#settle(ticket)
    return committed
  }

  #finish(ticket: Ticket, answer: OutgoingAnswer): void {
    this.resumption.finish(ticket, answer)
    this.#settle(ticket)
  }

  #settle(ticket: Ticket): void {
    if (this.#beforeCommit.delete(ticket)) this.resumption.settled()
  }
}
