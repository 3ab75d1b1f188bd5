/**
 * The embedding model `minilm`, which `npm run install:minilm` installs beside the project: all-MiniLM-L6-v2
 * with int8 weights, run by onnxruntime-node on one core. A vector is the mean of the model's token vectors,
 * normalized to length one. Loaded only by the thread of the local provider. Why it is not a dependency:
 * docs/decisions/search/chunks-and-models.md.
 */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { projectFolder } from '../../base/installation.js'

/** Tokens of a text that MiniLM reads, as it was trained. Further ones are left out. */
const MINILM_TOKENS_MAX = 256
/**
 * Characters of a text before tokenization. Its tokens have four letters on average; a text with longer ones
 * is truncated slightly early.
 */
const MINILM_TEXT_CHARACTERS_MAX = 16 * MINILM_TOKENS_MAX

export interface Minilm {
  readonly dimensions: number
  /**
   * @param texts only the first `MINILM_TOKENS_MAX` tokens of each are used
   * @returns one vector of length one per text, in the order of the texts, in one array
   */
  embed(texts: readonly string[]): Promise<Float32Array>
}

/**
 * The parts of the two packages that are used here. The packages are installed for this model only, so their
 * types are not available.
 */
interface Tensor {
  readonly data: Float32Array
  readonly dims: readonly number[]
}
interface Runtime {
  readonly Tensor: new (type: 'int64', data: BigInt64Array, dims: readonly number[]) => Tensor
  readonly InferenceSession: { create(path: string, options: object): Promise<Session> }
}
interface Session {
  run(inputs: Readonly<Record<string, Tensor>>): Promise<Readonly<Record<string, Tensor>>>
}
interface Tokenizers {
  readonly Tokenizer: new (tokenizer: unknown, config: unknown) => { encode(text: string): { readonly ids: readonly number[] } }
}

const DIMENSIONS = 384

/**
 * Takes 0.5 to 2 s and 200 MB. If the model is not installed, throws an Error whose text is meant for the
 * operator.
 */
export async function loadMinilm(folder = join(projectFolder(), 'models', 'minilm')): Promise<Minilm> {
  const files = [
    'model.onnx',
    'tokenizer.json',
    'tokenizer_config.json',
    'node_modules/onnxruntime-node',
    'node_modules/@huggingface/tokenizers',
  ]
  const missing = files.find((name) => !existsSync(join(folder, name)))
  if (missing !== undefined) throw new Error(`minilm is not installed, run "npm run install:minilm" (${missing} is missing)`)
  const require = createRequire(join(folder, 'package.json'))
  const runtime = require('onnxruntime-node') as Runtime
  const { Tokenizer } = require('@huggingface/tokenizers') as Tokenizers
  const read = (name: string): unknown => JSON.parse(readFileSync(join(folder, name), 'utf8'))
  const tokenizer = new Tokenizer(read('tokenizer.json'), read('tokenizer_config.json'))
  const session = await runtime.InferenceSession.create(join(folder, 'model.onnx'), {
    executionProviders: ['cpu'],
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  })
  const tensor = (values: BigInt64Array): Tensor => new runtime.Tensor('int64', values, [1, values.length])

  async function embedOne(text: string, vector: Float32Array): Promise<void> {
    const ids = fit(tokenizer.encode(text.slice(0, MINILM_TEXT_CHARACTERS_MAX)).ids)
    const { last_hidden_state: states } = await session.run({
      input_ids: tensor(BigInt64Array.from(ids, BigInt)),
      attention_mask: tensor(new BigInt64Array(ids.length).fill(1n)),
      token_type_ids: tensor(new BigInt64Array(ids.length)),
    })
    if (states?.data.length !== ids.length * DIMENSIONS) throw new Error('minilm: unexpected output shape')
    pool(states.data, vector)
  }

  return {
    dimensions: DIMENSIONS,
    embed: async (texts) => {
      const vectors = new Float32Array(texts.length * DIMENSIONS)
      // One text at a time: quantization ranges depend on the whole input, so the vector of a text in a batch
      // would differ. This also avoids padding.
      for (const [index, text] of texts.entries()) await embedOne(text, vectors.subarray(index * DIMENSIONS, (index + 1) * DIMENSIONS))
      return vectors
    },
  }
}

/** Truncates the tokens to the maximum. The last token, which marks the end, is kept. */
function fit(ids: readonly number[]): readonly number[] {
  return ids.length <= MINILM_TOKENS_MAX ? ids : [...ids.slice(0, MINILM_TOKENS_MAX - 1), ...ids.slice(-1)]
}

/** Writes the mean of the tokens' rows, normalized to length one. */
function pool(rows: Float32Array, vector: Float32Array): void {
  for (let at = 0; at < rows.length; at++) {
    const dimension = at % DIMENSIONS
    vector[dimension] = (vector[dimension] ?? 0) + (rows[at] ?? 0)
  }
  const length = Math.hypot(...vector)
  for (let at = 0; at < DIMENSIONS; at++) vector[at] = (vector[at] ?? 0) / length
}
