/**
 * The static embedding model that is part of the project. The vector of a text is the mean of its tokens'
 * rows in a table. Tokenizer and table are in a separate WASM module, so that no lane loads them. Byte layout
 * of the table: docs/formats/static-model.md. Choice of the model:
 * docs/decisions/search/chunks-and-models.md. Loaded only by the thread of the local provider.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { projectFolder } from '../../base/installation.js'
import { KIB } from '../../limits/units.js'
import { instantiateModule, type WasmMemory } from '../wasm.js'

/**
 * Bytes of a text that the local models read. A search text has 1 500 characters, and the rest of a very long
 * text hardly changes its mean. 15 ms of the static model.
 */
export const LOCAL_TEXT_BYTES_MAX = 256 * KIB

export interface StaticModel {
  readonly dimensions: number
  /**
   * Only the first `LOCAL_TEXT_BYTES_MAX` bytes of each text are used.
   * @returns one vector of length one per text, in the order of the texts, in one array; zeros for an empty
   * text
   */
  embed(texts: readonly string[]): Float32Array
  /** Returns the token numbers of a text in the model's vocabulary. */
  tokens(text: string): Uint16Array
}

interface ModelExports {
  readonly memory: WasmMemory
  readonly model_input: (bytes: number) => number
  readonly model_open: () => number
  readonly model_embed: () => number
  readonly model_tokens: () => number
  readonly model_tokens_address: () => number
}

const CHECKED_FROM = 12
const CHECKSUM_AT = 8

/** Takes 0.1 s and 28 MB. Throws if the model is missing or damaged. */
export function loadStaticModel(path = join(projectFolder(), 'models', 'static', 'static.mdsm')): StaticModel {
  const model = readFileSync(path)
  if (model.length < CHECKED_FROM || model.readUInt32LE(CHECKSUM_AT) !== crc32(model.subarray(CHECKED_FROM)))
    throw new Error(`${path} is damaged: its checksum is wrong`)
  const exports = instantiateModule('static_model') as ModelExports
  writeInput(exports, model)
  const dimensions = exports.model_open()
  if (dimensions === 0) throw new Error(`${path} is no static model of this version`)
  return {
    dimensions,
    embed: (texts) => {
      const vectors = new Float32Array(texts.length * dimensions)
      for (const [index, text] of texts.entries()) {
        writeInput(exports, bytesOf(text))
        const address = exports.model_embed()
        vectors.set(new Float32Array(exports.memory.buffer, address, dimensions), index * dimensions)
      }
      return vectors
    },
    tokens: (text) => {
      writeInput(exports, bytesOf(text))
      const count = exports.model_tokens()
      return new Uint16Array(exports.memory.buffer, exports.model_tokens_address(), count).slice()
    },
  }
}

function bytesOf(text: string): Uint8Array {
  const bytes = Buffer.from(text)
  if (bytes.length <= LOCAL_TEXT_BYTES_MAX) return bytes
  let end = LOCAL_TEXT_BYTES_MAX
  // Does not cut inside a character.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.subarray(0, end)
}

function writeInput(exports: ModelExports, bytes: Uint8Array): void {
  const address = exports.model_input(bytes.length)
  new Uint8Array(exports.memory.buffer, address, bytes.length).set(bytes)
}
