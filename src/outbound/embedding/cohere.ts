/**
 * Cohere's `POST /embed`. The base address selects version 1 or 2 of the interface. 96 texts per request; the
 * provider truncates longer texts. With `embedding_types` both versions return the same format; without it,
 * version 1 returns plain rows. Pure.
 */
import { BadAnswer, listOf, objectOf } from './protocol.js'
import type { Protocol } from './protocol.js'

export const cohere: Protocol = {
  path: '/embed',
  textsMax: 96,
  textBytesMax: 300_000,
  // The longest context is 128 000 tokens. Embeddings do not improve with such long texts.
  cuts: { first: 100_000, second: undefined },
  canEncode: false,
  body: ({ model, texts, role, dimensions }) => ({
    model,
    texts,
    input_type: role === 'query' ? 'search_query' : 'search_document',
    embedding_types: ['float'],
    truncate: 'END',
    ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
  }),
  rows: (answer, count) => {
    const { embeddings } = objectOf(answer)
    if (Array.isArray(embeddings)) return listOf(embeddings, count)
    if (embeddings === undefined || embeddings === null) throw new BadAnswer('the answer has no list of vectors')
    return listOf(objectOf(embeddings).float, count)
  },
}
