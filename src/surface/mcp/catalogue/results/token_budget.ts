/**
 * JSON reduced to a number of tokens. The largest member is cut first: a list loses its last items, a text
 * its last characters. Every member stays, and the first item of each list. Rules:
 * docs/decisions/interfaces/mcp.md. Pure; any thread.
 */
import { endOfPart, unroundedTokensOf } from './token_estimate.js'

type Entries = readonly (readonly [name: string, value: unknown])[]

/** What only repeats the request. It is cut before what was found. */
const ECHOED: ReadonlySet<string> = new Set(['targetCollections'])
/** By these a document is read; their lengths are bounded. */
const IDENTITY: ReadonlySet<string> = new Set(['id', 'key', 'lang', 'collection'])

/**
 * Leaves out the end of the largest member, and so on, so that the JSON has at most the given number of
 * tokens. The first item of a list always stays: it is cut itself.
 * @returns the value itself if it fits
 */
export function cutToTokens<Value>(value: Value, tokens: number): Value {
  return (isObject(value) && !isList(value) && jsonTokens(value) > tokens ? cutRecord(value, tokens) : cut(value, tokens)) as Value
}

function cut(value: unknown, tokens: number): unknown {
  if (typeof value === 'string') return value.slice(0, endOfPart(value, 0, tokens))
  if (!isObject(value) || jsonTokens(value) <= tokens) return value
  if (isList(value)) return leading(value, tokens)
  return isMap(value) ? Object.fromEntries(leadingEntries(Object.entries(value), tokens)) : cutRecord(value, tokens)
}

interface Member {
  readonly name: string
  readonly member: unknown
  /** Tokens of the member. */
  readonly size: number
  /** The highest is cut first. */
  readonly rank: number
}

/** A record keeps its members, of which the largest are cut. */
function cutRecord(record: object, tokens: number): object {
  const entries = Object.entries(record) as Entries
  const shown = new Map<string, unknown>(entries)
  const members: Member[] = []
  let excess = -tokens
  for (const [name, member] of entries) {
    const size = jsonTokens(member)
    excess += jsonTokens(name) + size
    if (!IDENTITY.has(name)) members.push({ name, member, size, rank: ECHOED.has(name) ? Infinity : size })
  }
  members.sort((one, other) => other.rank - one.rank)
  for (const { name, member, size } of members) {
    if (excess <= 0) break
    const rest = cut(member, Math.max(0, size - excess))
    shown.set(name, rest)
    excess -= size - jsonTokens(rest)
  }
  return Object.fromEntries(shown)
}

/** A first item that is too long is cut itself, as the only result with a whole text is. */
function leading(items: readonly unknown[], tokens: number): readonly unknown[] {
  const kept = items.slice(0, fitting(items, tokens))
  return kept.length === 1 ? [cut(kept[0], tokens)] : kept
}

/** The value of the first entry is cut, too: a map may have one key with many values. */
function leadingEntries(entries: Entries, tokens: number): Entries {
  const kept = entries.slice(0, fitting(entries, tokens))
  const [first] = kept
  return kept.length === 1 && first !== undefined ? [[first[0], cut(first[1], tokens - jsonTokens(first[0]))]] : kept
}

/** How many leading items fit; at least one. */
function fitting(items: readonly unknown[], tokens: number): number {
  let used = 0
  let count = 0
  for (const item of items) {
    used += jsonTokens(item)
    if (used > tokens && count > 0) break
    count++
  }
  return count
}

/** With the comma that follows. */
function jsonTokens(value: unknown): number {
  const text = JSON.stringify(value) as string | undefined
  return text === undefined ? 0 : Math.ceil(unroundedTokensOf(`${text},`))
}

/** Metadata, and counts by field: lists or objects by any name. A record has other values as well. */
function isMap(value: object): boolean {
  return Object.values(value).every(isObject)
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
