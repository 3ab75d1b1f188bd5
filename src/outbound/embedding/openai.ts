/**
 * OpenAI's `POST /embeddings`, which many other servers speak: 2 048 texts and 300 000 tokens a request, 8
 * 192 tokens a text, longer ones refused; no roles. Pure.
 */
import { indexedRows } from './protocol.js'
import type { Protocol } from './protocol.js'

export const openai: Protocol = {
  path: '/embeddings',
  textsMax: 2048,
  textBytesMax: 300_000,
  // A token of most texts has more than three bytes; none has less than one.
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
