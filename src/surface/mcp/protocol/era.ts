/**
 * The era of a message that was posted to `/mcp`, and the checks of the stateless era before a method is
 * looked at. The body decides: a message is stateless if `_meta` names its revision. Headers must agree with
 * the body, because proxies route by them. The order of the checks is that of the specification. Pure.
 * Compared with the official implementation in test/property/surfaces/mcp_era.test.ts.
 */
import { HEADER_MISMATCH, INVALID_PARAMS, type Refusal, refusal, UNSUPPORTED_VERSION } from './codes.js'
import { decodedName } from './header_text.js'
import { isLogLevel } from './log_levels.js'
import { isObject, type Message, type Params } from './message.js'
import { META_CAPABILITIES, META_CLIENT, META_LOG_LEVEL, META_VERSION, metaOf } from './meta.js'
import { isStatelessRevision, type Served } from './revisions.js'

export type Era = 'handshake' | 'stateless'

/** Headers of a request; undefined: absent. Blanks around them are removed. */
export interface EraHeaders {
  readonly version: string | undefined
  readonly method: string | undefined
  readonly name: string | undefined
}

export const NO_HEADERS: EraHeaders = { version: undefined, method: undefined, name: undefined }

/** The field of `params` that `Mcp-Name` repeats. */
const NAMED_BY = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
])

/** @param message a request or a notification */
export function eraOf(message: Exclude<Message, { kind: 'response' }>, headers: EraHeaders, served: Served): Era | Refusal {
  const isRequest = message.kind === 'request'
  const { method, params } = isRequest ? message.request : message.notification
  const claimed = metaOf(params)?.[META_VERSION]
  const named = headers.version
  const isNamedStateless = named !== undefined && isStatelessRevision(named)
  if (method === 'initialize' && isRequest && !isWholeClaim(params)) {
    return isNamedStateless ? mismatch(named, 'initialize belongs to revisions with a handshake') : 'handshake'
  }
  if (claimed === undefined) {
    if (!isNamedStateless) return 'handshake'
    if (isRequest) return withoutClaim(named, params)
    return methodMismatch(headers, method) ?? versionRefusal(named, served) ?? 'stateless'
  }
  if (typeof claimed !== 'string') return metaRefusal(META_VERSION, 'expected a string')
  if (isRequest) {
    const wrong = wrongMeta(params)
    if (wrong !== null) return wrong
  }
  if (named !== undefined && named !== claimed)
    return mismatch(named, `_meta names revision ${claimed}, the header MCP-Protocol-Version ${named}`)
  const isRepeated = isRequest || isStatelessRevision(claimed)
  return (isRepeated ? methodMismatch(headers, method) : null) ?? versionRefusal(claimed, served) ?? 'stateless'
}

/**
 * The headers that a stateless request over HTTP must have. Not for notifications.
 * @returns null: they are there, and agree with the body
 */
export function missingHeader(headers: EraHeaders, method: string, params: Params): Refusal | null {
  if (headers.version === undefined) return mismatch('(missing)', 'the header MCP-Protocol-Version is missing')
  if (headers.method === undefined) return mismatch('(missing)', 'the header Mcp-Method is missing')
  const field = NAMED_BY.get(method)
  if (field === undefined) return null
  const value = params[field]
  if (headers.name === undefined)
    return typeof value === 'string' ? mismatch('(missing)', `the header Mcp-Name is missing, which repeats params.${field}`) : null
  const name = decodedName(headers.name)
  if (name === null) return mismatch(headers.name, 'the header Mcp-Name is not valid Base64 of UTF-8')
  return typeof value === 'string' && name !== value ? mismatch(headers.name, `the header Mcp-Name differs from params.${field}`) : null
}

function methodMismatch(headers: EraHeaders, method: string): Refusal | null {
  if (headers.method === undefined || headers.method === method) return null
  return mismatch(headers.method, `the body names method ${method}, the header Mcp-Method ${headers.method}`)
}

function versionRefusal(revision: string, { stateless, listed }: Served): Refusal | null {
  if (stateless.includes(revision)) return null
  return refusal(400, UNSUPPORTED_VERSION, `Unsupported protocol version: ${revision}`, { supported: listed, requested: revision })
}

function mismatch(header: string, body: string): Refusal {
  return refusal(400, HEADER_MISMATCH, `Bad Request: headers and body disagree: ${body}`, { mismatch: { header, body } })
}

/** A header says that the request is stateless, and its body does not. */
function withoutClaim(named: string, params: Params): Refusal {
  const meta = metaOf(params)
  const missing = meta === undefined ? ['_meta'] : [META_VERSION, META_CAPABILITIES].filter((key) => !(key in meta))
  return refusal(400, INVALID_PARAMS, `Invalid params: a request of revision ${named} needs ${missing.join(', ')}`, {
    envelope: { missing },
  })
}

/** Whether `_meta` is that of a stateless request: then even `initialize` is one, and unknown there. */
function isWholeClaim(params: Params): boolean {
  const claimed = metaOf(params)?.[META_VERSION]
  return typeof claimed === 'string' && isStatelessRevision(claimed) && wrongMeta(params) === null
}

function wrongMeta(params: Params): Refusal | null {
  const meta = metaOf(params) ?? {}
  const capabilities = meta[META_CAPABILITIES]
  if (!isObject(capabilities)) return metaRefusal(META_CAPABILITIES, capabilities === undefined ? 'missing' : 'expected an object')
  const client = meta[META_CLIENT]
  if (client !== undefined && !isImplementation(client)) return metaRefusal(META_CLIENT, 'expected an object with name and version')
  const level = meta[META_LOG_LEVEL]
  if (level !== undefined && !isLogLevel(level)) return metaRefusal(META_LOG_LEVEL, 'expected a level of RFC 5424')
  const token = meta['progressToken']
  if (token !== undefined && typeof token !== 'string' && !Number.isSafeInteger(token))
    return metaRefusal('progressToken', 'expected a string or a whole number')
  return null
}

function isImplementation(client: unknown): boolean {
  return isObject(client) && typeof client['name'] === 'string' && typeof client['version'] === 'string'
}

function metaRefusal(key: string, problem: string): Refusal {
  return refusal(400, INVALID_PARAMS, `Invalid _meta: ${key}: ${problem}`, { envelope: { key, problem } })
}
