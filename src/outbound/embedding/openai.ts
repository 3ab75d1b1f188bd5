/**
 * OpenAI's `POST /embeddings`, which many other servers also implement. 2 048 texts and 300 000 tokens per
 * request, 8 192 tokens per text; longer texts are refused. No roles. Pure.
 */
import { indexedRows } from './protocol.js'
import type { Protocol } from './protocol.js'

export const openai: Protocol = {
  path: '/embeddings',
  textsMax: 2048,
  textBytesMax: 300_000,
  // In most texts a token has more than three bytes. No token has less than one.
  cuts: { first: 24_000, second: 8_000 },
  canEncode: true,
  body: ({ model, texts, dimensions, isEncoded }) => ({
    model,
    input: texts,
    encoding_format: isEncoded ? 'base64' : 'float',
    ...(dimensions === undefined ? {} : { dimensions }),
  }),
  rows: indexedRows,
}
