/**
 * Parsers of option values. Each takes the text as written in a flag, a variable or a YAML scalar, and
 * returns the value, or throws `BadValue` with a description of what was expected. Pure; runs once at start
 * on the main thread.
 */

import { LANGUAGES, resolveLanguage } from '../../engine/text/languages.js'
import type { AllowedDestination } from '../../outbound/allowlist.js'
import { parseAllowed } from '../../outbound/allowlist.js'
import { isNetwork } from '../../outbound/networks.js'

/** Entries of `SVC_OUTBOUND_ALLOWLIST`. Each is compared with every address. */
const OUTBOUND_ALLOWED_MAX = 256
/** Entries of `SVC_TRUSTED_PROXIES`. Each is compared with the addresses of a request. */
export const TRUSTED_PROXIES_MAX = 256

/** Describes what was expected. The caller adds the option and its source. */
export class BadValue extends Error {}

export const ACCESS_MODES = ['read', 'write', 'wr'] as const
export type AccessMode = (typeof ACCESS_MODES)[number]
/** An empty `host` means all interfaces. With port 0 the system chooses a port. */
export type ListenAddress =
  { readonly kind: 'tcp'; readonly host: string; readonly port: number } | { readonly kind: 'unix'; readonly path: string }

const TRUE_WORDS = new Set(['true', '1', 'yes', 'on', 'enable', 'enabled'])
const FALSE_WORDS = new Set(['false', '0', 'no', 'off', 'disable', 'disabled'])
const UNIT_BYTES = new Map([
  ['', 1],
  ['b', 1],
  ['k', 2 ** 10],
  ['kb', 2 ** 10],
  ['kib', 2 ** 10],
  ['m', 2 ** 20],
  ['mb', 2 ** 20],
  ['mib', 2 ** 20],
  ['g', 2 ** 30],
  ['gb', 2 ** 30],
  ['gib', 2 ** 30],
])

const UNIT_MS = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
])

export function parseBoolean(text: string): boolean {
  const word = text.toLowerCase()
  if (TRUE_WORDS.has(word)) return true
  if (FALSE_WORDS.has(word)) return false
  throw new BadValue('true or false expected')
}

export function parseText(text: string): string {
  if (text.includes('\0')) throw new BadValue('a text without NUL expected')
  return text
}

/** Accepts an absolute http or https URL without credentials, or nothing. */
export function parseUrl(text: string): string {
  if (text === '') return ''
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isUsable = (url?.protocol === 'http:' || url?.protocol === 'https:') && url.username === '' && url.password === ''
  if (!isUsable) throw new BadValue('an http or https URL without credentials expected')
  return text
}

/** Accepts a language tag in any spelling (`en_US`). Returns its base code. */
export function parseLanguage(text: string): string {
  const code = resolveLanguage(text, 'en')
  if (code === 'en' && !/^en([_-]|$)/i.test(text))
    throw new BadValue(`a language code such as ${LANGUAGES.map((language) => language.code).join(', ')} expected`)
  return code
}

/** Accepts one of the given words in any case. Returns the word as given. */
export function parseWord<Word extends string>(words: readonly Word[]): (text: string) => Word {
  return (text) => {
    const found = words.find((word) => word === text.toLowerCase())
    if (found === undefined) throw new BadValue(`one of ${words.join(', ')} expected`)
    return found
  }
}

export function parseWhole(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d{1,15}$/.test(text) || value < least || value > most) throw new BadValue(`a whole number from ${least} to ${most} expected`)
    return value
  }
}

/** Accepts bytes: `1048576`, `256MB`, `1GiB`. K, M and G are powers of 1 024, with or without the `i`. */
export function parseBytes(least: number, most: number): (text: string) => number {
  return (text) => {
    const match = /^(\d{1,15})\s*([a-z]*)$/i.exec(text)
    const unit = UNIT_BYTES.get((match?.[2] ?? '?').toLowerCase())
    const bytes = Number(match?.[1]) * (unit ?? Number.NaN)
    if (!(bytes >= least && bytes <= most)) throw new BadValue(`a size from ${least} to ${most} bytes such as 256MB expected`)
    return bytes
  }
}

/**
 * Accepts `5s`, `500ms`, `1h30m`, `1.5h`, or `0`. A number other than 0 needs a unit. Returns milliseconds.
 */
export function parseDuration(leastMs: number, mostMs: number): (text: string) => number {
  return (text) => {
    const parts = [...text.matchAll(/(\d{1,12}(?:\.\d{1,9})?)(ms|s|m|h)/gy)]
    const isWhole = parts.length > 0 && parts.reduce((length, [part]) => length + part.length, 0) === text.length
    const ms = Math.round(parts.reduce((sum, [, number, unit = '']) => sum + Number(number) * (UNIT_MS.get(unit) ?? Number.NaN), 0))
    if (text !== '0' && !(isWhole && ms >= leastMs && ms <= mostMs))
      throw new BadValue(`a duration from ${leastMs} ms to ${mostMs} ms such as 500ms, 5s, 10m or 1h30m expected`)
    if (text === '0' && leastMs > 0) throw new BadValue(`a duration from ${leastMs} ms expected`)
    return ms
  }
}

/** Accepts a duration, and a whole number of seconds. Returns milliseconds. */
export function parseSeconds(leastMs: number, mostMs: number): (text: string) => number {
  const parse = parseDuration(leastMs, mostMs)
  return (text) => parse(/^\d+$/.test(text) ? `${text}s` : text)
}

/** Parses `a, b` as ['a', 'b']. */
export function parseList(text: string): readonly string[] {
  const items = text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
  if (items.length === 0) throw new BadValue('a comma separated list expected')
  return items
}

/** Destinations of outgoing requests: names, `*.names`, addresses, networks, each with or without a port. */
export function parseDestinations(text: string): readonly AllowedDestination[] {
  const items = parseList(text)
  if (items.length > OUTBOUND_ALLOWED_MAX) throw new BadValue(`at most ${OUTBOUND_ALLOWED_MAX} destinations expected`)
  return items.map((item) => {
    const allowed = parseAllowed(item)
    if (allowed === undefined) throw new BadValue('names, *.names, addresses or networks, each with or without :port, expected')
    return allowed
  })
}

/** Addresses of proxies: addresses, networks, and `unix` for peers on a unix socket. */
export function parseProxies(text: string): readonly string[] {
  const items = parseList(text.toLowerCase())
  if (items.length > TRUSTED_PROXIES_MAX) throw new BadValue(`at most ${TRUSTED_PROXIES_MAX} proxies expected`)
  for (const item of items)
    if (item !== 'unix' && !isNetwork(item))
      throw new BadValue('addresses, networks such as 10.0.0.0/8, or unix, comma separated, expected')
  return items
}

/** Accepts `:port`, `port`, `host:port`, `[v6]:port`, `unix:/path`. */
export function parseAddress(text: string): ListenAddress {
  if (text.startsWith('unix:')) {
    const path = text.slice('unix:'.length)
    // sun_path of sockaddr_un has 108 bytes, including the NUL.
    if (!path.startsWith('/') || Buffer.byteLength(path) > 107) throw new BadValue('unix:/path of at most 107 bytes expected')
    return { kind: 'unix', path: parseText(path) }
  }
  const match = /^(?:(?:\[([0-9a-f:.%]+)\]|([^\s:[\]/]*)):)?(\d{1,5})$/i.exec(text)
  const port = Number(match?.[3])
  if (match === null || port > 65_535) throw new BadValue(':port, host:port, [v6]:port or unix:/path expected')
  return { kind: 'tcp', host: match[1] ?? match[2] ?? '', port }
}

/** Formats an address; the inverse of `parseAddress`. */
export function formatAddress(address: ListenAddress): string {
  if (address.kind === 'unix') return `unix:${address.path}`
  return address.host.includes(':') ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`
}
