/**
 * Cohere's `POST /embed`, versions 1 and 2 of the interface by the base address: 96 texts a request, a longer
 * text is cut by the provider. With `embedding_types` both versions answer alike; version 1 gives plain rows
 * to who does not ask. Pure.
 */
import { BadAnswer, listOf, objectOf } from './protocol.js'
import type { Protocol } from './protocol.js'

export const cohere: Protocol = {
  path: '/embed',
  textsMax: 96,
  textBytesMax: 300_000,
  // The longest context is 128 000 tokens, of which embeddings gain nothing.
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
