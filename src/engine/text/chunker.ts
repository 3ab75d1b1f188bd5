/**
 * Splits a text into the chunks that are embedded, with the WASM module: prose by the structure of markdown,
 * code where its brackets balance. One chunker per thread. A trap or excessive memory costs only the WASM
 * instance, never the thread. Chunk boundaries: docs/decisions/search/chunks-and-models.md.
 */
import { MIB } from '../../limits/units.js'
import { instantiateWasm, type WasmExports } from '../wasm.js'

/**
 * Linear memory of an instance that is kept for the next text: enough for all but the largest documents. The
 * chunker buffers the text, and eight bytes for each chunk.
 */
const CHUNKER_MEMORY_BYTES_KEPT_MAX = 8 * MIB

export type ChunkMode = 'prose' | 'code'

export interface Chunker {
  /**
   * @param text UTF-8
   * @param budget maximum characters (Unicode code points) of a chunk, from 1; values above 131 072 count as
   * 131 072. Only bracketed code makes a chunk longer
   * @param overlap characters of whole sentences that a chunk of prose repeats from the previous chunk: part
   * of the budget, at most half of it
   * @returns pairs of first byte and end (exclusive), ascending; without an overlap, everything except white
   * space is in exactly one chunk. Empty for a blank text
   */
  chunk(text: Uint8Array, mode: ChunkMode, budget: number, overlap: number): Uint32Array
}

/** The WASM instance is created with the first text. */
export function createChunker(): Chunker {
  let instance: WasmExports | undefined
  return {
    chunk: (text, mode, budget, overlap) => {
      const exports = (instance ??= instantiateWasm())
      // Unset during the run: a trap leaves the instance in an unknown state.
      instance = undefined
      const chunks = run(exports, text, mode, budget, overlap)
      if (exports.memory.buffer.byteLength <= CHUNKER_MEMORY_BYTES_KEPT_MAX) instance = exports
      return chunks
    },
  }
}

function run(exports: WasmExports, text: Uint8Array, mode: ChunkMode, budget: number, overlap: number): Uint32Array {
  const address = exports.input_room(text.length)
  new Uint8Array(exports.memory.buffer, address, text.length).set(text)
  const count = exports.chunk_run(text.length, mode === 'code' ? 1 : 0, Math.max(1, budget), overlap)
  return new Uint32Array(exports.memory.buffer, exports.chunk_output_address(), count * 2).slice()
}
