/**
 * Answers the requests of GraphQL: body, document, execution, and the answer's text. A request whose fields
 * are all read by this thread is answered in the turn in which it came. Only the thread of GraphQL has one.
 */
import { isUtf8 } from 'node:buffer'
import type { ExecutionResult, GraphQLSchema } from 'graphql'
import { execute, GraphQLError } from 'graphql'
import { Rights } from '../../access/rights.js'
import { newFaultId } from '../../base/fault_id.js'
import type { Config } from '../../config/config.js'
import type { ErrorCode } from '../../errors.js'
import { CATALOGUE } from '../../errors.js'
import { log } from '../../telemetry/log.js'
import type { JsonScan } from '../../wire/json_bounds.js'
import { EXCESS_TEXTS } from '../../wire/json_bounds.js'
import type { Pieces, ThreadCall } from '../../wire/messages/thread_calls.js'
import type { CallerParts } from './caller.js'
import { Caller } from './caller.js'
import type { ReadyDocument } from './documents.js'
import { Documents } from './documents.js'
import { executableSchema, unauthenticated } from './executable_schema.js'
import { writeAnswer } from './raw_text.js'
import { BATCH_TEXT, fieldError, NO_QUERY_TEXT, reworded } from './texts.js'

export interface GraphqlAnswer {
  readonly id: number
  /** Null: something was run. */
  readonly code: ErrorCode | null
  readonly body: Pieces
}

export class GraphqlService {
  readonly #schema: GraphQLSchema
  readonly #documents: Documents
  readonly #parts: CallerParts
  readonly #scan: JsonScan
  readonly #callers = new Map<number, Caller>()

  /** @param scan looks through the body of a request before it is parsed */
  constructor(config: Config, scan: JsonScan, parts: Omit<CallerParts, 'isClosed' | 'held'>) {
    this.#scan = scan
    const held = { bytes: 0, bytesMax: config.limits.GRAPHQL_ANSWERS_HELD_BYTES_MAX }
    this.#parts = { ...parts, isClosed: config.authEnabled, held }
    this.#schema = executableSchema(config)
    this.#documents = new Documents(this.#schema, config.authEnabled)
  }

  /**
   * Never throws.
   * @param body valid during this call only; it is modified
   * @param take is called once, now or later; not for a request that was stopped
   */
  run(call: ThreadCall, body: Uint8Array, take: (answer: GraphqlAnswer) => void): void {
    const { id } = call
    const done = (code: ErrorCode | null, result: object): void => take({ id, code, body: writeAnswer(result) })
    try {
      const answered = this.#answer(call, body, done)
      if (answered === null) return
      const { caller, ready, result } = answered
      this.#callers.set(id, caller)
      result
        .then(
          (found) => {
            if (this.#callers.delete(id)) done(null, plainOf(found, ready))
          },
          (error: unknown) => {
            if (this.#callers.delete(id)) done('internal', { errors: [faultOf(error).toJSON()] })
          },
        )
        .finally(() => caller.end())
    } catch (error) {
      done('internal', { errors: [faultOf(error).toJSON()] })
    }
  }

  /** Nobody waits for the answer any more. */
  stop(id: number): void {
    this.#callers.get(id)?.stop()
    this.#callers.delete(id)
  }

  /** @returns null: it is answered */
  #answer(
    { asker, address, agent }: ThreadCall,
    body: Uint8Array,
    done: (code: ErrorCode | null, result: object) => void,
  ): { readonly caller: Caller; readonly ready: ReadyDocument; readonly result: Promise<ExecutionResult> } | null {
    const request = readRequest(body, this.#scan)
    if (typeof request === 'string') {
      done('invalid', { errors: [fieldError('invalid', request).toJSON()] })
      return null
    }
    const ready = this.#documents.get(request.query)
    if (!('document' in ready)) {
      done('invalid', { errors: ready.map((error) => error.toJSON()) })
      return null
    }
    const { principal, rights } = asker
    const asking = rights === null ? principal : { ...principal, rights: new Rights(rights) }
    const caller = new Caller(this.#parts, { principal: asking, address, agent })
    if (ready.asksForSchema && !caller.isKnown) {
      done(null, { errors: [unauthenticated(caller).toJSON()], data: null })
      return null
    }
    let result: ReturnType<typeof execute> | undefined
    try {
      result = this.#execute(ready.document, request, caller)
    } finally {
      if (!(result instanceof Promise)) caller.end()
    }
    if (result instanceof Promise) return { caller, ready, result }
    // Without data nothing was run: the variables or the name of the operation do not fit.
    done(result.data === undefined ? 'invalid' : null, plainOf(result, ready))
    return null
  }

  #execute(
    document: Parameters<typeof execute>[0]['document'],
    { variables, operationName }: GraphqlRequest,
    caller: Caller,
  ): ReturnType<typeof execute> {
    const hideSuggestions = this.#parts.isClosed
    return execute({ schema: this.#schema, document, variableValues: variables, operationName, contextValue: caller, hideSuggestions })
  }
}

/** Errors first, as text; those that are no errors of fields are faults of the server. */
function plainOf({ errors, data }: ExecutionResult, { placed = asIs }: ReadyDocument): object {
  if (errors === undefined) return { data }
  const plain = errors.map(placed).map((error) => (isExpected(error) ? withCode(error) : faultOf(error)).toJSON())
  return data === undefined ? { errors: plain } : { errors: plain, data }
}

function asIs(error: GraphQLError): GraphQLError {
  return error
}

function isExpected({ originalError }: GraphQLError): boolean {
  return originalError === undefined || originalError instanceof GraphQLError
}

/** Errors of the package itself are about what the client has sent. */
function withCode(error: GraphQLError): GraphQLError {
  return error.extensions['code'] === undefined ? reworded(error, error.message, { code: CATALOGUE.invalid.graphql }) : error
}

function faultOf(error: unknown): GraphQLError {
  const requestId = newFaultId()
  const known = error instanceof GraphQLError ? error : new GraphQLError(CATALOGUE.internal.text)
  log.error('GraphQL', { fault: known.originalError ?? error, requestId })
  return reworded(known, CATALOGUE.internal.text, { code: CATALOGUE.internal.graphql, requestId })
}

/** A request as its body says it. */
interface GraphqlRequest {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>> | undefined
  readonly operationName: string | undefined
}

/**
 * Reads the body of a request: one JSON object. Unknown members are ignored, null counts as absent.
 * @param body members other than these three become spaces
 * @returns the text of the refusal for a body that is no request
 */
function readRequest(body: Uint8Array, scan: JsonScan): GraphqlRequest | string {
  if (!isUtf8(body)) return CATALOGUE.invalidUtf8.text
  const verdict = scan(body)
  if (verdict === 'invalid') return CATALOGUE.invalidJson.text
  if (verdict !== 'good') return EXCESS_TEXTS[verdict]
  const read: unknown = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString('utf8'))
  if (Array.isArray(read)) return BATCH_TEXT
  if (typeof read !== 'object' || read === null) return CATALOGUE.invalidJson.text
  const { query, variables, operationName } = read as Readonly<Record<string, unknown>>
  if (typeof query !== 'string' || query === '') return NO_QUERY_TEXT
  if (!isObject(variables ?? {})) return 'variables must be an object'
  if (typeof (operationName ?? '') !== 'string') return 'operationName must be a text'
  return {
    query,
    variables: (variables ?? undefined) as GraphqlRequest['variables'],
    operationName: (operationName ?? undefined) as string | undefined,
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
