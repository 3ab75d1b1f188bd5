/**
 * Operations of cost `loop`. They are answered on the front end for every surface, and need no store. Each
 * takes microseconds. Front-end thread only.
 */
import { authorize, collectionsOf } from '../access/authorize.js'
import type { Principal } from '../access/principal.js'
import { badRequest, serviceError } from '../errors.js'
import { KIB } from '../limits/units.js'
import { operations } from '../operations/index.js'
import type { Operation } from '../operations/row/operation.js'
import type { Answer, OutgoingAnswer } from '../wire/answer.js'
import type { EncodedInput, Form } from '../wire/form.js'
import { unpackInput } from '../wire/msgpack_input.js'
import { scanMsgpack } from '../wire/msgpack_scan.js'
import { outgoing, refusalOf } from './answers/answers.js'
import { emitOutcome, pendingEvent } from './audit_trail.js'
import type { DispatchRequest } from './ticket.js'

/**
 * Bytes of a MessagePack input of an operation on the event loop. The longest that a client needs has one
 * name of a collection. 64 KiB of one-byte maps or of short keys take 7 ms once the code is compiled.
 */
const LOOP_INPUT_BYTES_MAX = 64 * KIB

/** The first value of each field, as text. */
export type LoopInput = Readonly<Record<string, string>>
/** Must take microseconds: it runs on the event loop between two socket events. */
type LoopHandler = (input: LoopInput, principal: Principal) => Answer
export type BoundLoopHandler = readonly [row: Operation, run: LoopHandler]

/** Reads an input of one form on the event loop. */
export type LoopInputReader = (input: EncodedInput) => LoopInput

/** Readers of the forms other than MessagePack. */
export type LoopInputReaders = Readonly<Partial<Record<Form, LoopInputReader>>>

export class LoopOperations {
  readonly #handlers: ReadonlyMap<Operation, LoopHandler>

  /** @throws Error if the table of operations and the handlers do not match, which is a programming error */
  constructor(
    handlers: readonly BoundLoopHandler[],
    readonly readers: LoopInputReaders,
  ) {
    this.#handlers = new Map(handlers)
    const wanted = new Set(operations.filter(({ cost }) => cost === 'loop'))
    for (const row of wanted)
      if (!this.#handlers.has(row)) throw new Error(`operation ${row.name} runs on the loop and has no handler there`)
    for (const row of this.#handlers.keys()) if (!wanted.has(row)) throw new Error(`the loop handles ${row.name}, which runs on a lane`)
  }

  /** Answers at once. @returns null, as a submission that is answered does */
  respond(row: Operation, request: DispatchRequest): null {
    const answer = this.answer(row, request)
    emitOutcome({ audit: pendingEvent(row, request.principal, request.input.params, request.client) }, answer)
    request.sink.answer(answer)
    return null
  }

  /** Never throws an operating error: the error becomes the answer. */
  answer(row: Operation, { input, principal }: DispatchRequest): OutgoingAnswer {
    const run = this.#handlers.get(row)
    if (run === undefined) throw new Error(`${row.name} is not an operation of the loop`)
    try {
      const read = this.#read(input)
      authorize(
        row,
        principal,
        collectionsOf(row, read, () => undefined),
        'loop',
      )
      return outgoing(run(read, principal))
    } catch (error) {
      return refusalOf(error)
    }
  }

  #read(input: EncodedInput): LoopInput {
    const reader = this.readers[input.form]
    return reader === undefined ? textsOf(input.body) : reader(input)
  }
}

/** @throws ServiceError 400, or 413 for an input that would hold up the loop */
function textsOf(body: Uint8Array | null): LoopInput {
  if (body === null) return {}
  if (body.length > LOOP_INPUT_BYTES_MAX) throw serviceError('bodyTooLarge')
  if (scanMsgpack(body).verdict !== 'good') throw badRequest('invalid input')
  let input: unknown
  try {
    input = unpackInput(body)
  } catch {
    throw badRequest('invalid input')
  }
  if (typeof input !== 'object' || input === null || Array.isArray(input) || ArrayBuffer.isView(input)) throw badRequest('invalid input')
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, textOf(value)]))
}

/**
 * Plain values only: an object can have a `toString` of the client's.
 * @throws ServiceError 400
 */
function textOf(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') throw badRequest('invalid input')
  return String(value)
}
