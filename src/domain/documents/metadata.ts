/**
 * Metadata: a flat map from strings to lists of strings, stored as JSON text with sorted keys, so that equal
 * metadata has equal text regardless of its writer.
 */
import { badRequest } from '../../errors.js'
import { META_KEY_BYTES_MAX, META_KEYS_MAX, META_VALUE_BYTES_MAX, META_VALUES_MAX } from '../../limits/documents.js'

export interface Metadata {
  /** Keys sorted; values in the order given. */
  readonly values: readonly (readonly [key: string, values: readonly string[]])[]
  readonly json: string
  /** Distinct (key, value). */
  readonly pairs: readonly (readonly [string, string])[]
}

const EMPTY: Metadata = { values: [], json: '{}', pairs: [] }

/** @throws ServiceError 400 for anything that is not a map of string lists within the limits */
export function parseMetadata(meta: unknown): Metadata {
  if (meta === undefined || meta === null) return EMPTY
  if (typeof meta !== 'object' || (Array.isArray(meta) && meta.length > 0)) throw badRequest('invalid meta')
  const entries = Object.entries(meta as Record<string, unknown>)
  if (entries.length === 0) return EMPTY
  if (entries.length > META_KEYS_MAX) throw badRequest(`invalid meta: ${entries.length} keys, at most ${META_KEYS_MAX} are allowed`)
  entries.sort(([left], [right]) => (left < right ? -1 : 1))
  const values: [string, string[]][] = []
  const pairs: [string, string][] = []
  for (const [key, list] of entries) {
    const strings = checkValues(key, list)
    values.push([key, strings])
    for (const value of new Set(strings)) pairs.push([key, value])
  }
  const json = `{${values.map(([key, strings]) => `${JSON.stringify(key)}:${JSON.stringify(strings)}`).join(',')}}`
  return { values, json, pairs }
}

function checkValues(key: string, list: unknown): string[] {
  if (Buffer.byteLength(key) > META_KEY_BYTES_MAX) throw badRequest(`invalid meta: a key of more than ${META_KEY_BYTES_MAX} bytes`)
  if (!Array.isArray(list)) throw badRequest(`invalid meta.${key}: a list of strings is expected`)
  if (list.length > META_VALUES_MAX) throw badRequest(`invalid meta.${key}: ${list.length} values, at most ${META_VALUES_MAX} are allowed`)
  for (const value of list as unknown[]) {
    if (typeof value !== 'string') throw badRequest(`invalid meta.${key}: a list of strings is expected`)
    if (Buffer.byteLength(value) > META_VALUE_BYTES_MAX)
      throw badRequest(`invalid meta.${key}: a value of more than ${META_VALUE_BYTES_MAX} bytes`)
  }
  return list as string[]
}

/**
 * Rejects lone surrogates. They cannot be encoded in UTF-8 and would be stored as another character or not at
 * all.
 * @throws ServiceError 400
 */
export function requireText(contentMd: unknown, meta: unknown): void {
  if (typeof contentMd === 'string' && !contentMd.isWellFormed()) throw badRequest('invalid contentMd: invalid UTF-8')
  if (typeof meta !== 'object' || meta === null) return
  for (const [key, values] of Object.entries(meta)) {
    if (!key.isWellFormed()) throw badRequest('invalid meta: a key is invalid UTF-8')
    if (Array.isArray(values) && values.some((value) => typeof value === 'string' && !value.isWellFormed()))
      throw badRequest(`invalid meta.${key}: invalid UTF-8`)
  }
}

/**
 * Whether a document with this metadata passes filters: AND between keys, OR between the values of a key, so
 * that an empty list of values passes nothing. Null requires that the document has the key, with at least one
 * value.
 */
export function passesFilter(
  meta: Readonly<Record<string, readonly string[]>>,
  filters: readonly (readonly [string, readonly string[] | null])[],
): boolean {
  return filters.every(([key, wanted]) => {
    const values = Object.hasOwn(meta, key) ? (meta[key] as readonly string[]) : undefined
    if (values === undefined) return false
    return wanted === null ? values.length > 0 : wanted.some((value) => values.includes(value))
  })
}
