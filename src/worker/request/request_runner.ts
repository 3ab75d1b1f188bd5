/**
 * Runs the requests of a lane, one after another: input, authorization, handler, frame. An error of a request
 * becomes that request's answer. Lane threads only.
 */
import assert from 'node:assert/strict'
import { authorize, type Authorized } from '../../access/authorize.js'
import { type Command, decodeCommand, encodeCommand, ownsItsBytes } from '../../domain/commands.js'
import { EmbeddingsWanted } from '../../domain/embedding/text_vectors.js'
import { serviceError } from '../../errors.js'
import { laneOperations } from '../../operations/index.js'
import { type AnyOperation, isInternal } from '../../operations/row/operation.js'
import { BodiesWanted } from '../../store/objects.js'
import type { LaneAnswer } from '../../wire/answer_codec.js'
import type { ControlBlock } from '../../wire/control_block.js'
import type { LaneRequest } from '../../wire/request_codec.js'
import { AnswerStreams } from './answer_streams.js'
import type { CommitAnswer, Handler, LaneContext, RequestContext } from './handler.js'
import {
  answerFrame,
  bytesOf,
  droppedFrame,
  errorAnswer,
  type FormReaders,
  forwardFrame,
  hinted,
  messageFrame,
  principalOf,
  readInput,
  requestContext,
  stopWordOf,
  textsFrame,
} from './lane_request.js'
import { fetchMessage } from './storage.js'

/** What a write that stays on its thread becomes. */
type Prepared = { readonly command: Command } | { readonly frame: LaneAnswer }

interface RunnerParts {
  readonly control: ControlBlock
  readonly readers: FormReaders
  readonly handlers: ReadonlyMap<AnyOperation, Handler>
  /** Receives bugs of the server. */
  readonly report: (error: unknown, requestId: string) => void
}

export class RequestRunner {
  readonly streams = new AnswerStreams()
  readonly #parts: RunnerParts

  constructor(parts: RunnerParts) {
    this.#parts = parts
  }

  /** Never throws: an error becomes the answer. */
  run(context: LaneContext, request: LaneRequest): LaneAnswer {
    return this.#run(context, request, (command) => forwardFrame(request, encodeCommand(command)))
  }

  /**
   * Prepares a write that stays on its thread, so that its command is not packed.
   * @returns the command, or the frame of a request that does not become one
   */
  prepare(context: LaneContext, request: LaneRequest): Prepared {
    let prepared: Command | undefined
    const frame = this.#run(context, request, (command) => {
      prepared = ownsItsBytes(command) ? command : decodeCommand(encodeCommand(command))
      return droppedFrame(request)
    })
    return prepared === undefined ? { frame } : { command: prepared }
  }

  #run(context: LaneContext, request: LaneRequest, onCommand: (command: Command) => LaneAnswer): LaneAnswer {
    const { control, readers } = this.#parts
    const operation = operationOf(request)
    try {
      if (request.stream !== 0) return this.#nextPart(context, operation, request)
      const { input, access } = readInput(readers, operation, request, context, stopWordOf(request, control))
      const about = requestContext(operation, access, request, control)
      // An index that does not equal the store returns wrong answers, so searches are refused until it is
      // rebuilt.
      if (operation.cost === 'search' && control.indexStale) throw serviceError('warmingUp')
      if (operation.searchesVectors === true && control.vectorsLoading) throw serviceError('vectorsLoading')
      return hinted(operation, input, () => this.#runHandler(context, request, about, input, onCommand))
    } catch (error) {
      if (error instanceof EmbeddingsWanted) return textsFrame(request, error)
      if (error instanceof BodiesWanted)
        return this.#bringObjects(context, request, { objects: error.objects, body: request.body, isCommand: false })
      return this.#refusal(request, error)
    }
  }

  /** Runs operations that may wait for files and processes. Never throws. */
  async runTask(context: LaneContext, request: LaneRequest): Promise<LaneAnswer> {
    const { control, readers } = this.#parts
    const operation = operationOf(request)
    try {
      const { input, access } = readInput(readers, operation, request, context, stopWordOf(request, control))
      const about = requestContext(operation, access, request, control)
      const handler = this.#handlerOf(operation)
      assert(handler.kind === 'task' || handler.kind === 'switch', `operation ${operation.name} has no handler for the long lane`)
      if (handler.kind === 'task')
        return answerFrame(readers, request, await hinted(operation, input, () => handler.run(context, input, about)))
      const prepared = await hinted(operation, input, () => handler.run(context, input, about))
      return messageFrame(request, { kind: 'switch', ...prepared })
    } catch (error) {
      return this.#refusal(request, error)
    }
  }

  /**
   * Handles the write lane's answer to a command. A command that lacks objects comes back in its prepared
   * form.
   */
  committed(context: LaneContext, request: LaneRequest, command: Command, answer: CommitAnswer): LaneAnswer {
    if (answer.queued !== undefined) {
      const named = { epoch: context.store.presentEpoch().toString('hex'), documents: answer.queued }
      return messageFrame(request, { kind: 'capacity', code: answer.code ?? null, body: bytesOf(answer.body), named })
    }
    if (answer.wanted === undefined) return answerFrame(this.#parts.readers, request, answer)
    return this.#bringObjects(context, request, { objects: answer.wanted, body: encodeCommand(command), isCommand: true })
  }

  #runHandler(
    context: LaneContext,
    request: LaneRequest,
    about: RequestContext,
    input: unknown,
    onCommand: (command: Command) => LaneAnswer,
  ): LaneAnswer {
    const { operation, access } = about
    const handler = this.#handlerOf(operation)
    switch (handler.kind) {
      case 'stream':
        return this.#part(request, about, this.streams.begin(handler.run(context, input, about), access))
      case 'prepare': {
        const command = handler.run(context, input, about)
        return command.kind === 'store' ? messageFrame(request, command) : onCommand(command)
      }
      case 'io':
        return messageFrame(request, { kind: 'io', message: handler.run(context, input, about) })
      case 'read': {
        const mayBeCached = !isInternal(operation) && (operation.isRepeatable === true || operation.keptSeconds !== undefined)
        const answer = handler.run(context, input, about)
        const frame = answerFrame(this.#parts.readers, request, answer, mayBeCached ? { collections: access.collections } : {})
        // Avoids a second copy of a large answer.
        return context.out.giveAway(frame.body) ? { ...frame, owned: frame.body.buffer as ArrayBuffer } : frame
      }
      case 'task':
      case 'switch':
        throw new Error(`operation ${operation.name} is for the long lane`)
    }
  }

  /** The right may have been taken away since the answer began, so each part asks for it again. */
  #nextPart(context: LaneContext, operation: AnyOperation, request: LaneRequest): LaneAnswer {
    const { collections } = this.streams.accessOf(request.stream)
    let access: Authorized
    try {
      access = authorize(operation, principalOf(request, context), collections, 'lane')
    } catch (error) {
      this.streams.end(request.stream)
      throw error
    }
    return this.#part(request, requestContext(operation, access, request, this.#parts.control), request.stream)
  }

  #part(request: LaneRequest, about: RequestContext, stream: number): LaneAnswer {
    const { answer, isLast } = this.streams.next(stream, about)
    return answerFrame(this.#parts.readers, request, answer, { stream: isLast ? 0 : stream })
  }

  /** Never throws: if the wanted objects cannot be requested, the refusal is the answer. */
  #bringObjects(context: LaneContext, request: LaneRequest, message: Parameters<typeof fetchMessage>[1]): LaneAnswer {
    try {
      return messageFrame(request, fetchMessage(context, message))
    } catch (error) {
      return this.#refusal(request, error)
    }
  }

  #refusal(request: LaneRequest, error: unknown): LaneAnswer {
    return answerFrame(this.#parts.readers, request, errorAnswer(error, this.#parts.report))
  }

  #handlerOf(operation: AnyOperation): Handler {
    const handler = this.#parts.handlers.get(operation)
    assert(handler !== undefined, `operation ${operation.name} has no handler`)
    return handler
  }
}

export function operationOf(request: LaneRequest): AnyOperation {
  const operation = laneOperations[request.operationIndex]
  assert(operation !== undefined, `no operation ${request.operationIndex}: both sides load the same table`)
  return operation
}
