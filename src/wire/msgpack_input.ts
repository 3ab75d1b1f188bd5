/** Inputs in the form `msgpack`: one map with strings as keys. Encoded on any thread, decoded in a lane. */
import { createRequire } from 'node:module'
import type { EncodedInput } from './form.js'

// Loaded by `require` as in store/rows/packages.ts: one file instead of many small ones, in every thread of a
// start.
const { Packr } = createRequire(import.meta.url)('msgpackr') as typeof import('msgpackr')

const packr = new Packr({ useRecords: false, int64AsType: 'number', mapsAsObjects: true })
const NO_PARAMS: readonly string[] = []

/** The body is a buffer of its own. */
export function msgpackInput(input: object): EncodedInput {
  return bytesInput(new Uint8Array(packr.pack(input)))
}

/** @param body a map, encoded by the caller, which gives up ownership */
export function bytesInput(body: Uint8Array): EncodedInput {
  return { form: 'msgpack', head: '', params: NO_PARAMS, body, mayCompress: false }
}

/**
 * Shared memory is copied first, because the package's native part, which reads strings, does not accept it.
 * @throws Error for bytes that are not one value. Byte strings of the result are views of the bytes that were
 * read.
 */
export function unpackInput(body: Uint8Array): unknown {
  return packr.unpack(body.buffer instanceof SharedArrayBuffer ? new Uint8Array(body) : body)
}

export function packAnswer(value: unknown): Uint8Array {
  return new Uint8Array(packr.pack(value))
}
