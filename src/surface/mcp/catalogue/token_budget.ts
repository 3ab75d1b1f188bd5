/**
 * The tokens of a text, estimated without a tokenizer, and JSON reduced to a number of them. The estimate is
 * on the high side: 2.5 ASCII characters are one token, a character of Cyrillic, Greek or Arabic is one, one
 * of Chinese, Japanese, Korean or an Indic script is 1.6. What it was measured against is in
 * docs/decisions/0286. Pure; any thread.
 */

const TOKENS_A_UNIT = 0.4
/** Bytes of UTF-8 beyond one for each UTF-16 unit: 1 for Cyrillic, 2 for Chinese. */
const TOKENS_A_FURTHER_BYTE = 0.6

type Entries = readonly (readonly [name: string, value: unknown])[]

export function tokensOf(text: string): number {
  const units = text.length
  return Math.ceil(units * TOKENS_A_UNIT + (Buffer.byteLength(text) - units) * TOKENS_A_FURTHER_BYTE)
}

/**
 * Leaves out the last items of the largest list or map among the members, so that the JSON has at most the
 * given number of tokens. The first item always stays, so that an answer is never empty.
 * @returns the value itself if it fits
 */
export function cutToTokens<Value>(value: Value, tokens: number): Value {
  if (jsonTokens(value) <= tokens) return value
  if (Array.isArray(value)) return leading(value, tokens) as Value
  return isObject(value) ? cutMember(value, tokens, isObject) : value
}

/** @param mayCut which members are lists or maps of items */
function cutMember<Value extends object>(value: Value, tokens: number, mayCut: (member: unknown) => member is object): Value {
  const members = (Object.entries(value) as Entries).map(([name, member]) => ({ name, member, size: jsonTokens(member) }))
  const whole = members.reduce((sum, { name, size }) => sum + tokensOf(name) + size, 0)
  const largest = members.filter(({ member }) => mayCut(member)).toSorted((one, other) => other.size - one.size)[0]
  if (largest === undefined) return value
  const left = Math.max(0, tokens - (whole - largest.size))
  const member: unknown = largest.member
  const cut = isList(member) ? leading(member, left) : Object.fromEntries(leadingEntries(Object.entries(member as object), left))
  return { ...value, [largest.name]: cut }
}

/** A first item that is too long loses items of its own lists, as a group of duplicates does. */
function leading(items: readonly unknown[], tokens: number): readonly unknown[] {
  const kept = items.slice(0, fitting(items, tokens))
  const [first] = kept
  return kept.length === 1 && isObject(first) && !isList(first) && jsonTokens(first) > tokens ? [cutMember(first, tokens, isList)] : kept
}

/** The value of the first entry is cut, too: a map may have one key with many values. */
function leadingEntries(entries: Entries, tokens: number): Entries {
  const kept = entries.slice(0, fitting(entries, tokens))
  const [first] = kept
  return kept.length === 1 && first !== undefined ? [[first[0], cutToTokens(first[1], tokens - tokensOf(first[0]))]] : kept
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
  return text === undefined ? 0 : tokensOf(`${text},`)
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
