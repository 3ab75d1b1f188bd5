/**
 * Requests that are suspended while the front end does work for them, and then continue. The kinds of work
 * are: the io of their operation, objects that are sent to a store before the commit, objects or vectors that
 * a lane lacks, capacity of the embedding queue, a switch to a restored generation. A suspended request keeps
 * its slot, even if its client has disconnected. Front-end thread only.
 */
import { MIB } from '../limits/units.js'
import { type AnyOperation, isInternal } from '../operations/row/operation.js'
import { log } from '../telemetry/log.js'
import type { OutgoingAnswer } from '../wire/answer.js'
import type { LaneAnswer } from '../wire/answer_codec.js'
import {
  type CapacityFirst,
  decodeMessage,
  type FetchFirst,
  type IoFirst,
  type RequestMessage,
  type StoreFirst,
  type SwitchFirst,
  type TextsFirst,
} from '../wire/messages/messages.js'
import type { FetchObjects } from '../wire/messages/object_messages.js'
import { refusal, refusalWith, successOf } from './answers/answers.js'
import { noteAttemptedName } from './audit_trail.js'
import { answerOfIo, type Io, type IoTools } from './io.js'
import type { Ticket } from './ticket.js'

/**
 * Bytes of requests, commands and objects that the front end buffers while it sends and fetches objects:
 * twice the bound of request bodies, because their clients may have disconnected. Above it: 503.
 */
const SUSPENDED_BYTES_MAX = 512 * MIB

/** The dispatcher's side of a suspension. */
export interface Resumption {
  /**
   * Commits the command on the write lane.
   * @returns its answer, or null if nothing was written because no client waits for the answer any more
   */
  commit(ticket: Ticket, command: Uint8Array): Promise<OutgoingAnswer | null>
  finish(ticket: Ticket, answer: OutgoingAnswer): void
  /** Puts the ticket back into its queue, with its body. */
  again(ticket: Ticket): void
  /** The answer is not wanted any more. */
  abandon(ticket: Ticket): void
  /** A request that might have committed no longer can, or its command is queued. */
  settled(): void
  /**
   * Makes every lane serve the generation.
   * @param keepsAccounts the accounts of the present store replace those of the generation
   * @throws Error if the switch failed and the previous generation is still served
   */
  switchTo(generation: string, keepsAccounts: boolean): Promise<void>
}

/** Transfers of bodies to and from storage backends. Never rejects. */
export interface ObjectTransfers {
  /**
   * Sends the objects of the command while the answer is wanted, then calls `commit`.
   * @returns the refusal if a store did not accept them
   */
  storeFirst(message: StoreFirst, isWanted: () => boolean, commit: () => Promise<void>): Promise<OutgoingAnswer | undefined>
  /**
   * Fetches objects.
   * @param isForClient whether the answer goes to a client that may read the documents
   * @returns the refusal if the objects are not available
   */
  bring(objects: FetchFirst['objects'], isForClient: boolean): Promise<OutgoingAnswer | undefined>
  /** Fetches objects for the index of a lane, outside of requests. */
  readonly bringEach: FetchObjects
}

/** Transfers of vectors. Never rejects. */
interface VectorTransfers {
  /** Returns the answer of a write once there is capacity for its documents in the embedding queue. */
  readonly wait: (ticket: Ticket, message: CapacityFirst) => Promise<OutgoingAnswer>
  /** Fetches the vectors of texts. @returns the refusal if they are not available */
  readonly bring: (message: TextsFirst) => Promise<OutgoingAnswer | undefined>
}

export class Suspensions {
  readonly #io = new Map<AnyOperation, { readonly run: Io; readonly commits: boolean }>()
  #vectors: VectorTransfers | undefined
  /** Requests whose command is not queued yet, but may be later. */
  readonly #beforeCommit = new Set<Ticket>()

  /** Bytes of the lane messages that are being processed. */
  #bytes = 0

  constructor(
    readonly objects: ObjectTransfers,
    readonly resumption: Resumption,
    readonly bytesMax = SUSPENDED_BYTES_MAX,
  ) {}

  /** @param commits whether the io may commit a command of its ticket; if so, a restore waits for it */
  onIo<Message>(operation: AnyOperation, io: Io<Message>, { commits = true } = {}): void {
    this.#io.set(operation, { run: io as Io, commits })
  }

  onVectors(vectors: VectorTransfers): void {
    this.#vectors = vectors
  }

  /**
   * Whether no suspended request can produce a command any more. A command prepared from one store must not
   * be committed to the next, in which locations and seals have another meaning.
   */
  get isQuiet(): boolean {
    return this.#beforeCommit.size === 0
  }

  /** @param answer a frame of kind `message` */
  begin(ticket: Ticket, { body }: LaneAnswer): void {
    // A suspended ticket is in no queue: only its deadline can end it.
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

  /** Delays the answer of a restore until every lane serves the restored generation. */
  async #switch(ticket: Ticket, { generation, keepsAccounts, body }: SwitchFirst): Promise<void> {
    let answer = successOf(body)
    try {
      // Without a client the prepared generation is not served; the next start removes it.
      if (ticket.sink === null) answer = refusal('deadline')
      else {
        await this.resumption.switchTo(generation, keepsAccounts)
        log.info('restored', { backup: (JSON.parse(body) as { readonly restored: string }).restored })
      }
    } catch (error) {
      log.error('restore', { fault: error })
      answer = refusalWith('restoreFailed', `restore failed: ${(error as Error).message}`)
    }
    this.resumption.finish(ticket, answer)
  }

  async #doIo(ticket: Ticket, { message }: IoFirst): Promise<void> {
    const io = this.#io.get(ticket.operation)
    if (io?.commits !== false) this.#beforeCommit.add(ticket)
    const tools: IoTools = {
      principal: ticket.principal,
      clientAddress: () => (ticket.sink === null ? null : (ticket.client?.clientAddress() ?? '')),
      noteAttemptedName: (name) => noteAttemptedName(ticket, name),
      surface: ticket.surface,
      commit: (command) => this.#commit(ticket, command),
    }
    this.#finish(ticket, await answerOfIo(io?.run, message, tools))
  }

  async #waitForCapacity(ticket: Ticket, message: CapacityFirst): Promise<void> {
    const answer = (await this.#vectors?.wait(ticket, message)) ?? refusal('internal')
    if (ticket.onCommitted === null) this.resumption.finish(ticket, answer)
    else {
      ticket.onCommitted(answer)
      ticket.onCommitted = null
    }
  }

  /**
   * Stores the objects of a command and commits it. The objects count as in transfer until the write lane has
   * reported the outcome of the command.
   */
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
   * Runs the request again with the objects that it lacked. Repeats until none is missing or its deadline.
   */
  async #bring(ticket: Ticket, { objects, body, isCommand }: FetchFirst, bytes: number): Promise<void> {
    if (isCommand) this.#beforeCommit.add(ticket)
    const refused = await this.#counted(bytes, () => this.objects.bring(objects, !isInternal(ticket.operation)))
    this.#goOn(ticket, refused, body, isCommand)
    this.#settle(ticket)
  }

  /** Runs the request again with the vectors of its texts. */
  async #embed(ticket: Ticket, message: TextsFirst): Promise<void> {
    this.#goOn(ticket, await this.#vectors?.bring(message), message.body, false)
  }

  #goOn(ticket: Ticket, refused: OutgoingAnswer | undefined, body: Uint8Array, isCommand: boolean): void {
    if (refused === undefined) {
      // The retry is not direct: in the commit queue it would bypass the hold of a restore, which covers the
      // prepare queue only.
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
   * Counts bytes that outlive the request's share of the body budget, which is released when its client
   * disconnects. A message that is alone is never refused, whatever its size.
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

  /** Notifies the lane, which keeps the rest of the answer, that the rest is not wanted. */
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
