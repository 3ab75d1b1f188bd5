/** The row of recall. Pure data; rules in src/domain/memory. */
import { DEADLINE_EMBEDDED_MS } from '../../limits/lanes.js'
import { OWN_MEMORY } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { passageFields } from '../row/retrieval.js'
import { Document, metaFilters, operation, optional, required, shape, text, wholeNumber, word } from '../row/schema.js'
import { MESSAGE_ROLES, RECALL_STRATEGIES, shownSessionId } from './memory_fields.js'

export const recallMemory = operation({
  name: 'recallMemory',
  client: 'memory.recall',
  group: 'Memory',
  polledIn: 'domain/memory/recall.ts',
  boundedBy: ['RECALL_CANDIDATES_MAX'],
  protocols: { grpc: 'MemoryRecall', graphql: null, mcp: 'memory_recall' },
  searchesVectors: true,
  description: 'Finds messages of all sessions, or of some, by words, by meaning, or by both',
  effect: 'read',
  permission: 'read',
  collections: OWN_MEMORY,
  cost: 'search',
  http: { routes: [{ method: 'POST', path: '/v1/memory/recall' }] },
  input: Type.Object({
    query: required(text('What to look for, at most 4 KB.', 'wrong invoice'), { grpc: 1 }),
    userId: optional(Type.String({ description: 'Messages of sessions of this user only.', examples: ['alice'] }), { grpc: 2 }),
    sessionId: optional(Type.String({ description: 'Messages of this session only.' }), { grpc: 3 }),
    role: optional(word(MESSAGE_ROLES, 'Messages of this role only.'), { grpc: 4 }),
    topK: optional(wholeNumber('Maximum number of messages. Values above 10 000 count as 10 000.', { default: 10 }), { grpc: 5 }),
    threshold: optional(
      Type.Number({
        description: 'Minimum score of a match by meaning; with the strategy `keyword`, of a match by words.',
        default: 0,
      }),
      { grpc: 6 },
    ),
    strategy: optional(
      word(RECALL_STRATEGIES, 'How messages are found: by meaning, by words, or by both, whose ranks are fused.', 'hybrid'),
      { grpc: 7 },
    ),
    alpha: optional(
      Type.Number({
        description: 'With `hybrid`: weight of the ranks by meaning, from 0 to 1; those by words have the rest. Default: both count alike.',
      }),
      { grpc: { number: 8, hasPresence: true } },
    ),
    includeContent: optional(Type.Boolean({ description: 'Includes the texts; otherwise `contentMd` is empty.', default: true }), {
      grpc: { number: 9, hasPresence: true },
    }),
    filterMeta: optional(metaFilters.filterMeta.optional, { grpc: 10 }),
  }),
  output: shape('Messages, best first.', {
    results: required(
      Type.Array(
        Type.Object(
          {
            document: required(Document, { grpc: 1 }),
            score: required(
              Type.Number({ description: 'With `hybrid`: the fused score, else that of the search. Comparable within a response only.' }),
              { grpc: 2 },
            ),
            rank: required(Type.Integer({ description: 'Rank from 1.' }), { grpc: 3 }),
            sessionId: required(shownSessionId, { grpc: 4 }),
            role: required(Type.String(), { grpc: 5 }),
            matchStrategy: required(
              Type.String({ description: 'What found it: `keyword`, `semantic`, or `hybrid` for both.', examples: ['hybrid'] }),
              { grpc: 6 },
            ),
            chunkIndex: optional(passageFields.chunkIndex.optional, { grpc: 7 }),
            chunkText: optional(passageFields.chunkText.optional, { grpc: 8 }),
          },
          { title: 'MemoryHit' },
        ),
      ),
      { grpc: 1 },
    ),
    total: required(Type.Integer({ description: 'Number of results in this response.' }), { grpc: 2 }),
    strategy: required(Type.String(), { grpc: 3 }),
    query: required(Type.String(), { grpc: 4 }),
    contextTruncated: optional(
      Type.Boolean({ description: 'True if results were omitted because of the token budget of the collection.' }),
      { grpc: 5 },
    ),
  }),
  errors: ['sessionNotFound', 'noEmbeddingProvider', 'invalidOversample', 'vectorsLoading'],
  deadlineMs: DEADLINE_EMBEDDED_MS,
  audit: null,
})
