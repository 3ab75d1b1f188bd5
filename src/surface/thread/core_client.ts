/**
 * The core as seen by a surface in a thread of its own that awaits its answers: operations by name, inputs as
 * objects or as MessagePack, answers whole or in parts. One client per thread.
 */
import type { Principal } from '../../access/principal.js'
import { bytesInput, packAnswer } from '../../wire/msgpack_input.js'
import { refusal } from '../../dispatch/answers.js'
import type { ErrorCode } from '../../errors.js'
import type { CoreAnswer, CorePort } from './core_port.js'

export type { CoreAnswer } from './core_port.js'

export interface AskOptions {
  readonly principal: Principal
  readonly deadlineMs?: number
  /** Of the client, for logs and audit events. */
  readonly address?: string
  /** What the client says that it is, for audit events. */
  readonly agent?: string
  /** Abort cancels the request, which then rejects. */
  readonly signal?: AbortSignal
}

export class CoreClient {
  readonly #port: CorePort
  readonly #admit: (operation: string) => ErrorCode | null
  /** By id of the request: rejects its promise. */
  readonly #rejections = new Map<number, (reason: Error) => void>()

  /** @param admit for a thread that asks for admission itself: the code of the refusal, or null */
  constructor(port: CorePort, admit: (operation: string) => ErrorCode | null = () => null) {
    this.#port = port
    this.#admit = admit
  }

  /**
   * @param input the fields, or an input encoded as MessagePack, whose ownership passes to the callee
   * @returns the answer or a refusal; if it has more parts, `more` or `cancel` must follow
   * @throws Error `cancelled` if the request is cancelled before its answer
   */
  async ask(
    operation: string,
    input: object | Uint8Array,
    { principal, deadlineMs, address, agent, signal }: AskOptions,
  ): Promise<CoreAnswer> {
    if (signal?.aborted === true) throw cancelled()
    const refused = this.#admit(operation)
    if (refused !== null) return refusedAnswer(refused)
    const bytes = input instanceof Uint8Array ? input : packAnswer(input)
    const optional = {
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
      ...(address === undefined ? {} : { address }),
      ...(agent === undefined ? {} : { agent }),
    }
    const request = { operation, input: bytesInput(bytes), principal, ...optional }
    return await this.#wait(signal, (take) => this.#port.ask(request, take))
  }

  /**
   * Requests the next part.
   * @param answer the previous part, which has more
   * @param signal abort cancels the rest of the answer
   * @throws Error `cancelled` as for `ask`
   */
  async more({ id }: CoreAnswer, signal?: AbortSignal): Promise<CoreAnswer> {
    if (signal?.aborted === true) {
      this.cancel(id)
      throw cancelled()
    }
    return await this.#wait(signal, (take) => {
      this.#port.more(id, take)
      return id
    })
  }

  /** The body of a whole answer, as the port has given it, is not needed any more. */
  read(answer: CoreAnswer): void {
    if (answer.id > 0) this.#port.read(answer)
  }

  /** Whoever waits for the answer is rejected. @param id of the answer that is not wanted, or its rest */
  cancel(id: number): void {
    this.#rejections.get(id)?.(cancelled())
    this.#rejections.delete(id)
    this.#port.cancel(id)
  }

  /** @param send sends the request and returns its id */
  #wait(signal: AbortSignal | undefined, send: (take: (answer: CoreAnswer) => void) => number): Promise<CoreAnswer> {
    let id = 0
    const onAbort = (): void => this.cancel(id)
    signal?.addEventListener('abort', onAbort, { once: true })
    return new Promise<CoreAnswer>((resolve, reject) => {
      id = send((answer) => {
        this.#rejections.delete(id)
        resolve(answer)
      })
      this.#rejections.set(id, reject)
    }).finally(() => signal?.removeEventListener('abort', onAbort))
  }
}

function refusedAnswer(code: ErrorCode): CoreAnswer {
  const { contentType, facts, isCompressed, body } = refusal(code)
  return { kind: 'answer', id: 0, code, contentType, facts, isCompressed, body: Buffer.from(body), isPage: false, hasMore: false }
}

function cancelled(): Error {
  return new Error('cancelled')
}
