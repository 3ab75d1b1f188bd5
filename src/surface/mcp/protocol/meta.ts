/** Keys of `_meta` in the stateless era, and where `_meta` is. Pure. */
import { isObject, type Params } from './message.js'

export const META_VERSION = 'io.modelcontextprotocol/protocolVersion'
export const META_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
export const META_CLIENT = 'io.modelcontextprotocol/clientInfo'
export const META_LOG_LEVEL = 'io.modelcontextprotocol/logLevel'
export const META_SERVER = 'io.modelcontextprotocol/serverInfo'
export const META_SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId'

export function metaOf(params: Params): Params | undefined {
  const meta = params['_meta']
  return isObject(meta) ? meta : undefined
}

/** @returns the token under which the client wants to hear of progress; undefined: it does not */
export function progressTokenOf(params: Params): string | number | undefined {
  const token = metaOf(params)?.['progressToken']
  return typeof token === 'string' || Number.isSafeInteger(token) ? (token as string | number) : undefined
}
