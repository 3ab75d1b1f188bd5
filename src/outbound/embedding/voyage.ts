/**
 * Voyage AI's `POST /embeddings`. 1 000 texts and 120 000 tokens per request (older models: 128 texts). The
 * provider truncates longer texts. Pure.
 */
import { indexedRows } from './protocol.js'
import type { Protocol } from './protocol.js'

export const voyage: Protocol = {
  path: '/embeddings',
  textsMax: 128,
  textBytesMax: 120_000,
  // The longest context is 32 000 tokens, and one text must fit into a request.
  cuts: { first: 100_000, second: undefined },
  canEncode: true,
  body: ({ model, texts, role, dimensions, isEncoded }) => ({
    model,
    input: texts,
    input_type: role,
    truncation: true,
    ...(isEncoded ? { encoding_format: 'base64' } : {}),
    ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
  }),
  rows: indexedRows,
}
