/**
 * The active provider of vectors, published by the front end to all lanes in shared memory. A lane that
 * prepares a write must know whether vectors are wanted; a lane that searches must know which vectors can be
 * compared. Only the front end writes the block. It makes the first word odd while it writes (a sequence
 * lock); a reader that overlaps with a write reads again. The block contains no key and no address.
 */
import assert from 'node:assert/strict'
import type { EmbeddingIdentity } from '../domain/embedding/embedding_identity.js'

/** JSON of the embedding provider's identity that lanes have: name, model and variant, escaped. */
const EMBEDDING_IDENTITY_BYTES_MAX = 4096

const VERSION_WORD = 0
const LENGTH_WORD = 1
const TEXT_AT = 2 * Int32Array.BYTES_PER_ELEMENT

export class EmbeddingBlock {
  readonly #words: Int32Array
  readonly #text: Uint8Array
  #known: { readonly version: number; readonly identity: EmbeddingIdentity | undefined } = { version: 0, identity: undefined }

  constructor(readonly buffer: SharedArrayBuffer) {
    this.#words = new Int32Array(buffer, 0, 2)
    this.#text = new Uint8Array(buffer, TEXT_AT)
  }

  static create(): EmbeddingBlock {
    return new EmbeddingBlock(new SharedArrayBuffer(TEXT_AT + EMBEDDING_IDENTITY_BYTES_MAX))
  }

  /** Undefined: there is no provider. */
  get current(): EmbeddingIdentity | undefined {
    for (;;) {
      const version = Atomics.load(this.#words, VERSION_WORD)
      if (version === this.#known.version) return this.#known.identity
      const text = Buffer.from(this.#text.slice(0, Atomics.load(this.#words, LENGTH_WORD))).toString()
      // Odd: the front end is writing, which takes some microseconds.
      if (version % 2 !== 0 || Atomics.load(this.#words, VERSION_WORD) !== version) continue
      this.#known = { version, identity: text === '' ? undefined : (JSON.parse(text) as EmbeddingIdentity) }
    }
  }

  /** Front end only. */
  set current(identity: EmbeddingIdentity | undefined) {
    const { provider, model, dimensions, variant } = identity ?? { provider: '', model: '', dimensions: 0, variant: '' }
    const text = identity === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify({ provider, model, dimensions, variant }))
    assert(text.length <= EMBEDDING_IDENTITY_BYTES_MAX, 'names of models and variants are bounded')
    Atomics.add(this.#words, VERSION_WORD, 1)
    this.#text.set(text)
    Atomics.store(this.#words, LENGTH_WORD, text.length)
    Atomics.add(this.#words, VERSION_WORD, 1)
  }
}
