/** Requests that the front end makes of the lanes itself, like those of clients but for the client. Front-end thread only. */
import { laneOperations } from '../operations/index.js'
import type { Operation } from '../operations/operation.js'
import type { Dispatcher } from './dispatcher.js'
import type { OutgoingAnswer } from './ticket.js'

export interface InnerRequest {
  readonly operation: Operation
  readonly query?: string
  /** JSON; given away. */
  readonly body?: Uint8Array | null
}

/** @returns the answer, a refusal as well; its body is the caller's */
export function ask(dispatcher: Dispatcher, { operation, query = '', body = null }: InnerRequest): Promise<OutgoingAnswer> {
  return new Promise((resolve) => {
    dispatcher.submit({
      operation,
      operationIndex: laneOperations.indexOf(operation),
      query,
      params: [],
      acceptsGzip: false,
      acceptedAt: performance.now(),
      body,
      sink: { answer: (answer) => resolve(typeof answer.body === 'string' ? answer : { ...answer, body: Buffer.from(answer.body) }) },
    })
  })
}

/** An answer that is none. */
export class Refused extends Error {
  constructor(
    operation: string,
    readonly status: number,
    text: string,
  ) {
    super(`${operation}: ${status} ${text}`)
    this.name = 'Refused'
  }
}

/** The parsed answer. @throws Refused */
export async function askFor<T>(dispatcher: Dispatcher, operation: Operation, input: object): Promise<T> {
  const { status, body } = await ask(dispatcher, { operation, body: Buffer.from(JSON.stringify(input)) })
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8')
  if (status !== 200) throw new Refused(operation.name, status, text)
  return JSON.parse(text) as T
}
