/**
 * The native scan of a large JSON text before JSON.parse (native/engine/base/json_scan.h): it checks grammar
 * and bounds, and cuts out unknown members in place. Any thread that loads the addon.
 */
import { loadAddon } from './addon.js'
import type { StopWord } from './types.js'

/**
 * Which members of a JSON text are known. All of a value of kind `any` is kept, and all of a value that is of
 * another kind than the one named here.
 */
export type KnownMembers =
  | { readonly kind: 'any' }
  | { readonly kind: 'list'; readonly items: KnownMembers }
  | {
      readonly kind: 'object'
      readonly members: readonly (readonly [name: string, value: KnownMembers])[]
      /** Of the members that are not named; null: they are cut out. */
      readonly rest: KnownMembers | null
    }

export const ANY: KnownMembers = { kind: 'any' }

/** Of what is kept but for the depth, which is the whole text's. */
export interface JsonBounds {
  readonly depth: number
  /** Objects and lists. */
  readonly containers: number
  /** Texts, numbers, words, objects and lists. */
  readonly values: number
  /** Different beginnings of objects: after each member the names so far, in their order. */
  readonly shapes: number
}

export type JsonVerdict = 'good' | 'invalid' | 'depth' | 'containers' | 'values' | 'shapes' | 'stopped'

interface Face {
  scanJson(text: Uint8Array, members: Uint8Array, bounds: Uint8Array, control: Int32Array | undefined, stopWord: number): number
}

/** By the number that the addon answers, negated. */
const VERDICTS: readonly JsonVerdict[] = ['good', 'invalid', 'depth', 'containers', 'values', 'shapes', 'stopped']
const KINDS = ['any', 'object', 'list'] as const
const ANY_NODE = 0
const NO_NODE = 0xffffffff

let addon: Face | undefined

export class JsonScanner {
  readonly #members: Uint8Array
  readonly #bounds: Uint8Array

  constructor(members: KnownMembers, { depth, containers, values, shapes }: JsonBounds) {
    this.#members = encode(members)
    this.#bounds = new Uint8Array(Uint32Array.of(depth, containers, values, shapes).buffer)
  }

  /**
   * Where the verdict is `good`, `text` holds what is kept, and spaces behind it; otherwise its bytes are
   * undefined.
   */
  scan(text: Uint8Array, stop?: StopWord): JsonVerdict {
    addon ??= loadAddon<Face>(['scanJson'])
    const verdict = addon.scanJson(text, this.#members, this.#bounds, stop?.control, (stop?.byteOffset ?? 0) / Int32Array.BYTES_PER_ELEMENT)
    return VERDICTS[-verdict] as JsonVerdict
  }
}

/**
 * u32 number of nodes, then each, children before parents, the root last; node 0 is `any` and not written. A
 * node: u32 kind (0 any, 1 object, 2 list), u32 node of the items or of members that are not named
 * (0xFFFFFFFF: none), u32 number of members; of each u32 bytes of its name, the name, u32 its node.
 */
function encode(root: KnownMembers): Uint8Array {
  const nodes: Buffer[] = []
  const add = (node: KnownMembers): number => {
    if (node.kind === 'any') return ANY_NODE
    const members = node.kind === 'object' ? node.members.map(([name, value]) => [name, add(value)] as const) : []
    const below = node.kind === 'list' ? node.items : node.rest
    const rest = below === null ? NO_NODE : add(below)
    const parts = members.flatMap(([name, child]) => {
      const bytes = Buffer.from(name)
      return [numbers(bytes.length), bytes, numbers(child)]
    })
    return nodes.push(Buffer.concat([numbers(KINDS.indexOf(node.kind), rest, members.length), ...parts]))
  }
  // A root of its own, where anything goes: the root is the last node that is written.
  if (add(root) === ANY_NODE) nodes.push(numbers(KINDS.indexOf('any'), ANY_NODE, 0))
  return Buffer.concat([numbers(nodes.length), ...nodes])
}

function numbers(...values: readonly number[]): Buffer {
  return Buffer.from(Uint32Array.from(values).buffer)
}
