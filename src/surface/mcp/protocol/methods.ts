/**
 * The methods of MCP, in both eras, without transport: a request in, the text of its response out. Lists are
 * made once, because they do not change. Everything else is the catalogue's. One object a thread.
 */
import { newFaultId } from '../../../base/fault_id.js'
import { refusal } from '../../../dispatch/answers/answers.js'
import { awaitAnswer } from '../../../dispatch/awaited_answers.js'
import type { Core } from '../../../dispatch/core.js'
import { FieldsRequest } from '../../../dispatch/fields_request.js'
import type { Surface } from '../../../dispatch/surface.js'
import { KnownClient } from '../../../dispatch/surface.js'
import { operationByName } from '../../../operations/index.js'
import { log } from '../../../telemetry/log.js'
import type { OutgoingAnswer } from '../../../wire/answer.js'
import { type CallContext, type Catalogue, CatalogueError, RESOURCE_NOT_FOUND } from '../catalogue/catalogue.js'
import type { Answered, Call } from './call.js'
import { INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND } from './codes.js'
import type { Era } from './era.js'
import { isWanted } from './log_levels.js'
import { errorText, isObject, type Params, type Request, type RequestId, resultText } from './message.js'
import { META_SERVER, META_SUBSCRIPTION, progressTokenOf } from './meta.js'
import { pageOf } from './paging.js'
import type { Served } from './revisions.js'
import type { ServerIdentity } from './server_identity.js'

/** How long clients may keep a list: an hour. Lists change with a restart only. */
const LIST_TTL_MS = 3_600_000
const LISTED = { ttlMs: LIST_TTL_MS, cacheScope: 'public' } as const
/** What is stored may change at any time, and depends on the reader's rights. */
const READ = { ttlMs: 0, cacheScope: 'private' } as const
const NOTHING = {}

interface Result {
  readonly value: object
  /** Members of a result of the stateless era. */
  readonly caching?: typeof LISTED | typeof READ
}

type Method = (params: Params, context: CallContext) => Promise<Result> | Result

interface MethodsParts {
  readonly catalogue: Catalogue
  readonly core: Core
  readonly surface: Surface
  readonly identity: ServerIdentity
  readonly served: Served
  /** Items of one page of a list. */
  readonly pageItems: number
}

export class Methods {
  readonly #parts: MethodsParts
  readonly #methods: Readonly<Record<Era, ReadonlyMap<string, Method>>>
  /** JSON of pages of lists, by era, method and cursor. */
  readonly #pages = new Map<string, string>()
  /** The first members of a result of the stateless era. */
  readonly #statelessBegin: string

  constructor(parts: MethodsParts) {
    this.#parts = parts
    this.#statelessBegin = `{"resultType":"complete","_meta":${JSON.stringify({ [META_SERVER]: parts.identity.info })}`
    const both: readonly (readonly [string, Method])[] = [
      ['tools/call', (params, context) => this.#callTool(params, context)],
      ['resources/read', (params, context) => this.#readResource(params, context)],
      ['prompts/get', (params, context) => this.#getPrompt(params, context)],
      ['completion/complete', (params, context) => this.#complete(params, context)],
    ]
    this.#methods = {
      handshake: new Map<string, Method>([
        ...both,
        ['ping', () => ({ value: NOTHING })],
        ['resources/subscribe', acceptUri],
        ['resources/unsubscribe', acceptUri],
      ]),
      stateless: new Map<string, Method>([...both, ['server/discover', () => this.#discover()]]),
    }
  }

  /**
   * Never rejects, unless the call is cancelled.
   * @throws Error if the signal of the call has aborted
   */
  async answer(request: Request, call: Call): Promise<Answered> {
    const { id, method, params } = request
    try {
      const page = this.#pageText(method, params, call.era)
      if (page !== null) return { text: resultText(id, page), status: 200 }
      const run = this.#methods[call.era].get(method)
      if (run === undefined) return this.#unknown(request, call.era)
      const result = await run(params, this.#contextOf(params, call))
      return { text: resultText(id, this.#resultJson(result, call.era)), status: 200 }
    } catch (error) {
      if (call.signal.aborted) throw error
      return { text: errorText(id, errorOf(error, call.era)), status: 200 }
    }
  }

  /** The end of `subscriptions/listen`, as JSON. */
  subscriptionEnd(id: RequestId): string {
    const _meta = { [META_SERVER]: this.#parts.identity.info, [META_SUBSCRIPTION]: id }
    return JSON.stringify({ resultType: 'complete', _meta })
  }

  /** Tools as they are listed, for the plain paths. */
  get tools(): readonly object[] {
    return this.#parts.catalogue.tools(this.#parts.surface.mode)
  }

  get resources(): { readonly resources: readonly object[]; readonly resourceTemplates: readonly object[] } {
    const { catalogue } = this.#parts
    return { resources: catalogue.resources(), resourceTemplates: catalogue.resourceTemplates() }
  }

  /** @throws CatalogueError */
  async run(method: 'tools/call' | 'resources/read', params: Params, call: Call): Promise<object> {
    const run = this.#methods.handshake.get(method)!
    return (await run(params, this.#contextOf(params, call))).value
  }

  #unknown({ id, method }: Request, era: Era): Answered {
    const error = { code: METHOD_NOT_FOUND, message: 'Method not found', data: { method: method.slice(0, 100) } }
    return { text: errorText(id, error), status: era === 'stateless' ? 404 : 200 }
  }

  /** @returns null for a method that is no list */
  #pageText(method: string, params: Params, era: Era): string | null {
    const name = LISTS.get(method)
    if (name === undefined) return null
    const { cursor } = params
    const key = `${era} ${method} ${typeof cursor === 'string' ? `from ${cursor}` : ''}`
    const kept = cursor === undefined || typeof cursor === 'string' ? this.#pages.get(key) : undefined
    if (kept !== undefined) return kept
    const page = pageOf(this.#listOf(name), cursor, this.#parts.pageItems)
    if (page === null) throw new CatalogueError(INVALID_PARAMS, 'invalid cursor')
    const next = page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }
    const made = this.#resultJson({ value: { [name]: page.items, ...next }, caching: LISTED }, era)
    this.#pages.set(key, made)
    return made
  }

  #listOf(name: ListName): readonly object[] {
    const { catalogue, surface } = this.#parts
    if (name === 'tools') return catalogue.tools(surface.mode)
    if (name === 'resources') return catalogue.resources()
    return name === 'prompts' ? catalogue.prompts() : catalogue.resourceTemplates()
  }

  async #callTool(params: Params, context: CallContext): Promise<Result> {
    const name = text(params['name'], 'name')
    return { value: await this.#parts.catalogue.callTool(name, argumentsOf(params), context) }
  }

  async #readResource(params: Params, context: CallContext): Promise<Result> {
    return { value: await this.#parts.catalogue.readResource(text(params['uri'], 'uri'), context), caching: READ }
  }

  async #getPrompt(params: Params, context: CallContext): Promise<Result> {
    return { value: await this.#parts.catalogue.getPrompt(text(params['name'], 'name'), argumentsOf(params), context) }
  }

  async #complete({ ref, argument }: Params, context: CallContext): Promise<Result> {
    return { value: await this.#parts.catalogue.complete(ref, argument, context) }
  }

  #discover(): Result {
    const { served, identity } = this.#parts
    const { info, capabilities, instructions } = identity
    const told = instructions === undefined ? {} : { instructions }
    return { value: { supportedVersions: served.listed, capabilities, serverInfo: info, ...told }, caching: LISTED }
  }

  #resultJson({ value, caching }: Result, era: Era): string {
    if (era === 'handshake') return JSON.stringify(value)
    const rest = JSON.stringify({ ...value, ...caching })
    return rest === '{}' ? `${this.#statelessBegin}}` : `${this.#statelessBegin},${rest.slice(1)}`
  }

  /** @throws Error if the signal of the call aborts */
  async #ask(name: string, input: object, { caller, signal }: Call): Promise<OutgoingAnswer> {
    const { core, surface } = this.#parts
    const operation = operationByName.get(name)
    if (operation === undefined) return refusal('unknownOperation')
    const admitted = core.admission.admit(operation, surface)
    if (typeof admitted === 'string') return refusal(admitted)
    const client = new KnownClient(caller.address, caller.agent)
    const asking = { principal: caller.principal, client }
    return await awaitAnswer(core, (sink) => new FieldsRequest(admitted, input, asking, sink), signal)
  }

  #contextOf(params: Params, call: Call): CallContext {
    const { surface, identity } = this.#parts
    const token = progressTokenOf(params)
    return {
      ask: (operation, input) => this.#ask(operation, input, call),
      signal: call.signal,
      mode: surface.mode,
      isStructured: call.isStructured,
      progress: (done, total, message) => {
        if (token === undefined) return
        const known = { ...(total === undefined ? {} : { total }), ...(message === undefined ? {} : { message }) }
        call.notify('notifications/progress', { progressToken: token, progress: done, ...known })
      },
      log: (level, data) => {
        if (isWanted(level, call.logLevel)) call.notify('notifications/message', { level, logger: nameOf(identity), data })
      },
    }
  }
}

/** Accepted without effect: the capability says that nothing is notified. */
function acceptUri({ uri }: Params): Result {
  text(uri, 'uri')
  return { value: NOTHING }
}

type ListName = 'tools' | 'resources' | 'resourceTemplates' | 'prompts'

const LISTS: ReadonlyMap<string, ListName> = new Map([
  ['tools/list', 'tools'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
  ['prompts/list', 'prompts'],
])

function nameOf({ info }: ServerIdentity): string {
  return (info as { readonly name: string }).name
}

/** @throws CatalogueError unless the value is a text */
function text(value: unknown, name: string): string {
  if (typeof value !== 'string') throw new CatalogueError(INVALID_PARAMS, `Invalid params: ${name} must be a string`)
  return value
}

function argumentsOf(params: Params): Params {
  const given = params['arguments']
  if (given === undefined || given === null) return NOTHING
  if (!isObject(given)) throw new CatalogueError(INVALID_PARAMS, 'Invalid params: arguments must be an object')
  return given
}

/** The error of JSON-RPC for what a method has thrown. A programming error is logged, and not shown. */
export function errorOf(error: unknown, era: Era): { readonly code: number; readonly message: string; readonly data?: unknown } {
  if (error instanceof CatalogueError) {
    const { code, message, data } = error
    return { code: code === RESOURCE_NOT_FOUND && era === 'stateless' ? INVALID_PARAMS : code, message, data }
  }
  const requestId = newFaultId()
  log.error('mcp', { fault: error, requestId })
  return { code: INTERNAL_ERROR, message: 'internal error', data: { requestId } }
}
