/**
 * Template variables of /v1/get: each `%%name%%` in the content is replaced by `env.name`, from start to end.
 * Inserted values are not scanned again. Service-1, identity rule 5: a name may contain any character that a
 * key of `env` may contain, including `%` and line breaks. If names overlap in the text, the one that ends
 * first is replaced. If they end together, the one that begins first is replaced.
 *
 * Operates on JSON-escaped bytes, as contents are stored, outside the JavaScript heap. All names are matched
 * simultaneously (Aho and Corasick, "Efficient string matching", CACM 1975). The time is linear in the
 * content, for any set of names. Pure.
 */
import { badRequest } from '../../errors.js'
import { ANSWER_BYTES_MAX } from '../../limits/documents.js'
import { MIB } from '../../limits/units.js'
import { escapeContent } from '../../store/body.js'
import type { ByteWriter } from '../../store/rows/byte_writer.js'

/**
 * UTF-8 bytes of all names in `env` together, escaped: 256 of 4 KiB. The search for them takes 40 times as
 * much memory.
 */
const TEMPLATE_NAMES_BYTES_MAX = MIB

const PERCENT = 0x25
const MARK = Buffer.from('%%')
const ROOT = 0
const NONE = -1
/** Bytes of content between two polls of the deadline: 0.3 ms. */
const BYTES_POLLED = 64 * 1024

export class Template {
  readonly #names: readonly Buffer[]
  readonly #values: readonly Buffer[]
  readonly #states: States

  /** @param env an entry with an empty name is ignored @throws ServiceError 400 */
  constructor(env: Iterable<readonly [name: string, value: string]>) {
    const entries = [...env].filter(([name]) => name !== '')
    this.#names = entries.map(([name]) => Buffer.concat([MARK, escapeContent(name), MARK]))
    this.#values = entries.map(([, value]) => escapeContent(value))
    const bytes = this.#names.reduce((sum, name) => sum + name.length, 0)
    if (bytes > TEMPLATE_NAMES_BYTES_MAX)
      throw badRequest(`invalid env: names of together ${bytes} bytes, at most ${TEMPLATE_NAMES_BYTES_MAX} are allowed`)
    this.#states = new States(this.#names, bytes)
  }

  /**
   * Appends the content with all variables replaced.
   * @param poll throws if the client is no longer waiting
   * @throws ServiceError 400 if the answer would be too large; nothing has been written then
   */
  fill(escaped: Uint8Array, out: ByteWriter, poll: () => void): void {
    let bytes = out.length + escaped.length
    const found = this.#each(escaped, poll, (name) => {
      bytes += (this.#values[name] as Buffer).length - (this.#names[name] as Buffer).length
    })
    if (bytes > ANSWER_BYTES_MAX) throw badRequest(`answer too large: ${bytes} bytes with what env puts in`)
    out.reserve(bytes - out.length)
    let copied = 0
    if (found > 0)
      this.#each(escaped, poll, (name, end) => {
        const value = this.#values[name] as Buffer
        out.part(escaped, copied, end - (this.#names[name] as Buffer).length)
        out.part(value, 0, value.length)
        copied = end
      })
    out.part(escaped, copied, escaped.length)
  }

  /** @returns the number of matches */
  #each(text: Uint8Array, poll: () => void, found: (name: number, end: number) => void): number {
    const states = this.#states
    let state = ROOT
    let count = 0
    let polledAt = 0
    for (let at = 0; at < text.length; at++) {
      if (state === ROOT && text[at] !== PERCENT) {
        const next = text.indexOf(PERCENT, at)
        if (next < 0) break
        at = next
      }
      if (at - polledAt >= BYTES_POLLED) {
        poll()
        polledAt = at
      }
      state = states.next(state, text[at] as number)
      const name = states.nameAt(state)
      if (name === NONE) continue
      found(name, at + 1)
      count += 1
      state = ROOT
    }
    return count
  }
}

/**
 * The automaton of all names: a trie with a fallback state for each node. Transitions are stored in one
 * open-addressing hash table. A look-up takes constant time, and the memory is proportional to the bytes of
 * the names.
 */
class States {
  readonly #fallback: Int32Array
  readonly #name: Int32Array
  readonly #keys: Float64Array
  readonly #targets: Int32Array
  readonly #mask: number
  #count = 1

  constructor(names: readonly Uint8Array[], bytes: number) {
    let capacity = 16
    while (capacity < 2 * bytes) capacity *= 2
    this.#mask = capacity - 1
    this.#keys = new Float64Array(capacity).fill(NONE)
    this.#targets = new Int32Array(capacity)
    this.#fallback = new Int32Array(bytes + 1)
    this.#name = new Int32Array(bytes + 1).fill(NONE)
    names.forEach((name, index) => this.#insert(name, index))
    this.#link(names)
  }

  next(from: number, byte: number): number {
    for (let state = from; ; state = this.#fallback[state] as number) {
      const target = this.#child(state, byte)
      if (target !== NONE) return target
      if (state === ROOT) return ROOT
    }
  }

  /** The longest name that ends in this state. */
  nameAt(state: number): number {
    return this.#name[state] as number
  }

  #insert(name: Uint8Array, index: number): void {
    let state = ROOT
    for (const byte of name) {
      const slot = this.#slot(state, byte)
      if (this.#keys[slot] === NONE) {
        this.#keys[slot] = state * 256 + byte
        this.#targets[slot] = this.#count++
      }
      state = this.#targets[slot] as number
    }
    this.#name[state] = index
  }

  /** Level by level, so that the fallbacks of a node's ancestors are known before its own is computed. */
  #link(names: readonly Uint8Array[]): void {
    const states = new Int32Array(names.length)
    let isOpen = true
    for (let depth = 0; isOpen; depth++) {
      isOpen = false
      names.forEach((name, index) => {
        if (depth >= name.length) return
        isOpen = true
        const parent = states[index] as number
        const byte = name[depth] as number
        const state = this.#child(parent, byte)
        states[index] = state
        const fallback = parent === ROOT ? ROOT : this.next(this.#fallback[parent] as number, byte)
        this.#fallback[state] = fallback
        if (this.#name[state] === NONE) this.#name[state] = this.#name[fallback] as number
      })
    }
  }

  #child(state: number, byte: number): number {
    const slot = this.#slot(state, byte)
    return this.#keys[slot] === NONE ? NONE : (this.#targets[slot] as number)
  }

  /** The slot of the transition, or the slot where it would be inserted. */
  #slot(state: number, byte: number): number {
    const key = state * 256 + byte
    let slot = Math.imul(key ^ (key >>> 15), 0x9e3779b1) & this.#mask
    while (this.#keys[slot] !== NONE && this.#keys[slot] !== key) slot = (slot + 1) & this.#mask
    return slot
  }
}
