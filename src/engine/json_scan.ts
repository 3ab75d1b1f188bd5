/**
 * The native scan of a large JSON text before JSON.parse (native/engine/base/json_scan.h). It checks grammar
 * and bounds, and removes unknown members in place. Any thread that loads the addon.
 */
import { loadAddon } from './addon.js'
import type { StopWord } from './types.js'

/**
 * The known members of a JSON text. A value of kind `any` is kept whole. So is a value whose type is not the
 * one named here.
 */
export type KnownMembers =
  | { readonly kind: 'any' }
  | { readonly kind: 'list'; readonly items: KnownMembers }
  | {
      readonly kind: 'object'
      readonly members: readonly (readonly [name: string, value: KnownMembers])[]
      /** Applies to members that are not named. Null: they are removed. */
      readonly rest: KnownMembers | null
    }

export const ANY: KnownMembers = { kind: 'any' }

/** Bounds on the kept members, except the depth, which counts the whole text. */
export interface JsonBounds {
  readonly depth: number
  /** Objects and arrays. */
  readonly containers: number
  /** Strings, numbers, literals, objects and arrays. */
  readonly values: number
  /** Different prefixes of objects: after each member, the sequence of names so far. */
  readonly shapes: number
}

type JsonVerdict = 'good' | 'invalid' | 'depth' | 'containers' | 'values' | 'shapes' | 'stopped'

interface Face {
  scanJson(text: Uint8Array, members: Uint8Array, bounds: Uint8Array, control: Int32Array | undefined, stopWord: number): number
}

/** Indexed by the negated return value of the addon. */
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
   * If the verdict is `good`, `text` contains the kept bytes, followed by spaces. Otherwise its bytes are
   * undefined.
   */
  scan(text: Uint8Array, stop?: StopWord): JsonVerdict {
    addon ??= loadAddon<Face>(['scanJson'])
    const verdict = addon.scanJson(text, this.#members, this.#bounds, stop?.control, (stop?.byteOffset ?? 0) / Int32Array.BYTES_PER_ELEMENT)
    return VERDICTS[-verdict] as JsonVerdict
  }
}

/** A scan that nothing stops. */
export function scanOf(members: KnownMembers, bounds: JsonBounds): (text: Uint8Array) => Exclude<JsonVerdict, 'stopped'> {
  const scanner = new JsonScanner(members, bounds)
  return (text) => scanner.scan(text) as Exclude<JsonVerdict, 'stopped'>
}

/**
 * Layout: u32 number of nodes, then the nodes, children before parents, the root last. Node 0 is `any` and is
 * not written. A node: u32 kind (0 any, 1 object, 2 list), u32 node of the items or of the members that are
 * not named (0xFFFFFFFF: none), u32 number of members. A member: u32 bytes of its name, the name, u32 its
 * node.
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
  // A root of kind `any` needs a written node, because the root is the last written node.
  if (add(root) === ANY_NODE) nodes.push(numbers(KINDS.indexOf('any'), ANY_NODE, 0))
  return Buffer.concat([numbers(nodes.length), ...nodes])
}

function numbers(...values: readonly number[]): Buffer {
  return Buffer.from(Uint32Array.from(values).buffer)
}
