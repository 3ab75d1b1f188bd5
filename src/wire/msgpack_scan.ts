/**
 * The scan of a MessagePack input before it is unpacked: one pass over the headers, which counts what the
 * unpacker would build and checks that the bytes are one value. A container may take 63 bytes of heap for one
 * byte of input. Any thread.
 */
import { JSON_CONTAINERS_MAX, JSON_DEPTH_MAX, JSON_VALUES_MAX } from '../limits/documents.js'

interface MsgpackBounds {
  readonly depth: number
  readonly containers: number
  readonly values: number
}

export interface MsgpackScan {
  /** `invalid`: not one value of the accepted formats. Otherwise the bound that is exceeded. */
  readonly verdict: 'good' | 'invalid' | 'depth' | 'containers' | 'values'
  /** Maps and arrays up to the end of the scan. */
  readonly containers: number
  /** Values of every kind, maps and arrays included. Keys of maps are not counted, as in JSON. */
  readonly values: number
}

const BOUNDS: MsgpackBounds = { depth: JSON_DEPTH_MAX, containers: JSON_CONTAINERS_MAX, values: JSON_VALUES_MAX }

type Kind = 'scalar' | 'extension' | 'list' | 'map' | 'invalid'

/** What follows the first byte of a value. */
interface Format {
  readonly kind: Kind
  /** Bytes of the payload, or items of the container, if no field contains them. */
  readonly size: number
  /** Bytes of the field with the size: 0, 1, 2 or 4. */
  readonly field: number
}

const sized = (kind: Kind, ...sizes: number[]): Format[] => sizes.map((size) => ({ kind, size, field: 0 }))
const fields = (kind: Kind, ...bytes: number[]): Format[] => bytes.map((field) => ({ kind, size: 0, field }))
const range = (kind: Kind, count: number, sizeOf: (at: number) => number): Format[] =>
  Array.from({ length: count }, (_, at) => ({ kind, size: sizeOf(at), field: 0 }))

/** By first byte, in the order of the specification. */
const FORMATS: readonly Format[] = [
  ...range('scalar', 0x80, () => 0), // positive fixint
  ...range('map', 0x10, (at) => at), // fixmap
  ...range('list', 0x10, (at) => at), // fixarray
  ...range('scalar', 0x20, (at) => at), // fixstr
  ...sized('scalar', 0), // nil
  ...sized('invalid', 0), // 0xc1
  ...sized('scalar', 0, 0), // false, true
  ...fields('scalar', 1, 2, 4), // bin 8 to 32
  ...fields('extension', 1, 2, 4), // ext 8 to 32
  ...sized('scalar', 4, 8), // float 32, float 64
  ...sized('scalar', 1, 2, 4, 8), // uint 8 to 64
  ...sized('scalar', 1, 2, 4, 8), // int 8 to 64
  ...sized('extension', 1, 2, 4, 8, 16), // fixext 1 to 16
  ...fields('scalar', 1, 2, 4), // str 8 to 32
  ...fields('list', 2, 4), // array 16, array 32
  ...fields('map', 2, 4), // map 16, map 32
  ...range('scalar', 0x20, () => 0), // negative fixint
]

/**
 * Undefined (msgpackr) and timestamp. Every other extension is refused: those of msgpackr contain further
 * values that this scan would not count (records, sets, references) or make regular expressions.
 */
const EXTENSIONS: ReadonlySet<number | undefined> = new Set([0x00, 0xff])

/** Takes time in proportion to the number of values, and reads no byte outside the input. */
export function scanMsgpack(bytes: Uint8Array, bounds = BOUNDS): MsgpackScan {
  const outer: { readonly left: number; readonly isMap: boolean }[] = []
  let [at, containers, values] = [0, 0, 0]
  /** Keys and values that are still to come in the innermost container. */
  let left = 1
  let isMap = false
  const ended = (verdict: MsgpackScan['verdict']): MsgpackScan => ({ verdict, containers, values })
  for (;;) {
    const format = FORMATS[bytes[at++] ?? 0xc1]
    if (format === undefined || format.kind === 'invalid' || at + format.field > bytes.length) return ended('invalid')
    const size = format.field === 0 ? format.size : bigEndian(bytes, at, format.field)
    at += format.field
    const isKey = isMap && left % 2 === 0
    left--
    if (!isKey && ++values > bounds.values) return ended('values')
    if (format.kind === 'list' || format.kind === 'map') {
      if (isKey) return ended('invalid')
      if (++containers > bounds.containers) return ended('containers')
      outer.push({ left, isMap })
      if (outer.length > bounds.depth) return ended('depth')
      isMap = format.kind === 'map'
      left = isMap ? 2 * size : size
    } else {
      if (format.kind === 'extension' && !EXTENSIONS.has(bytes[at++])) return ended('invalid')
      at += size
      if (at > bytes.length) return ended('invalid')
    }
    while (left === 0) {
      const around = outer.pop()
      if (around === undefined) return ended(at === bytes.length ? 'good' : 'invalid')
      left = around.left
      isMap = around.isMap
    }
  }
}

function bigEndian(bytes: Uint8Array, at: number, width: number): number {
  let value = 0
  for (let next = at; next < at + width; next++) value = value * 0x100 + (bytes[next] ?? 0)
  return value
}
