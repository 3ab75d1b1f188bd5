/** Requests that the server makes of its own lanes. Front-end thread only. */
import { type Principal, SYSTEM } from '../access/principal.js'
import type { ErrorCode } from '../errors.js'
import type { AnyOperation } from '../operations/row/operation.js'
import { type OutgoingAnswer, textOf } from '../wire/answer.js'
import { bytesInput, msgpackInput } from '../wire/msgpack_input.js'
import { awaitAnswer } from './awaited_answers.js'
import type { Dispatcher } from './dispatcher.js'

/**
 * @param input the fields, or an encoded input; ownership of an encoded input passes to the callee
 * @param principal of kind `system`; its name is the actor of what is written
 * @returns the answer, which may be a refusal; the caller owns its body
 */
export function ask(
  dispatcher: Dispatcher,
  operation: AnyOperation,
  input: object | Uint8Array,
  principal: Principal = SYSTEM,
): Promise<OutgoingAnswer> {
  return awaitAnswer(dispatcher, (sink) => ({
    admitted: dispatcher.admission.admitOwn(operation),
    input: input instanceof Uint8Array ? bytesInput(input) : msgpackInput(input),
    principal,
    receivedAt: performance.now(),
    sink,
  }))
}

/** A refusal of a request that the server made itself. */
export class Refused extends Error {
  constructor(
    operation: string,
    readonly code: ErrorCode,
    text: string,
  ) {
    super(`${operation}: ${code}: ${text}`)
    this.name = 'Refused'
  }
}

/** Returns the parsed answer. @throws Refused */
export async function askFor<T>(dispatcher: Dispatcher, operation: AnyOperation, input: object): Promise<T> {
  const answer = await ask(dispatcher, operation, input)
  if (answer.code !== null) throw new Refused(operation.name, answer.code, textOf(answer))
  return JSON.parse(textOf(answer)) as T
}
