/** Rows of what a collection is told beside its documents: configuration, synonyms, stop words, curation. Pure data; rules in src/domain. */
import { DEADLINE_POINT_MS, DEADLINE_SEARCH_MS, DEADLINE_WRITE_MS } from '../limits.js'
import { Type } from './json_schema.js'
import { collection, mapOf, operation, optional, shape, text, unixSeconds, wholeNumber, word } from './schema.js'

const inCollection = { collection: { field: 'collection' }, group: 'Collection settings' } as const
const asked = { effect: 'read', permission: 'read', deadlineMs: DEADLINE_POINT_MS, audit: null } as const
const changed = { effect: 'write', permission: 'write', cost: 'write', deadlineMs: DEADLINE_WRITE_MS } as const

const configFields = {
  type: optional(word(['default', 'website', 'images', 'audio', 'documents', 'scraping'], 'What the collection holds.', 'default')),
  description: optional(Type.String()),
  icon: optional(Type.String({ description: 'An emoji.' })),
  color: optional(Type.String({ description: 'Hexadecimal.' })),
  customMeta: optional(mapOf(Type.Unsafe<unknown>({}), { description: 'Whatever else is to be kept.' })),
  storageBackend: optional(
    word(['boltdb', 'memory', 's3'], 'Where bodies lie. Only `boltdb`, the embedded store, is available yet.', 'boltdb'),
  ),
  storageConfig: optional(
    Type.Object(
      {
        endpoint: optional(Type.String()),
        bucket: optional(Type.String()),
        region: optional(Type.String()),
        accessKey: optional(Type.String()),
        secretKey: optional(
          Type.String({ description: 'Never shown; `secretKeySet` says whether there is one. Empty: the stored one stays.' }),
        ),
        prefix: optional(Type.String()),
        useTLS: optional(Type.Boolean({ default: false })),
      },
      { description: 'Required for `s3`.' },
    ),
  ),
  maxRevisions: optional(Type.Integer({ description: 'Revisions kept of each document; 0: all.' })),
  retrieval: optional(
    Type.Object(
      {
        defaultSearchType: optional(word(['fts', 'vector', 'hybrid'], 'For clients; the server does not choose by it.')),
        topK: optional(Type.Integer({ description: '1 to 1000.' })),
        retrievalMode: optional(word(['parent', 'chunk', 'window'], 'What of a document is returned.')),
        hybridStrategy: optional(word(['alpha', 'rrf'], 'How scores are joined.')),
        hybridAlpha: optional(Type.Number({ description: '0: keywords only, 1: meaning only. Counts with `hybridAlphaSet`.' })),
        hybridAlphaSet: optional(Type.Boolean()),
        oversample: optional(Type.Number({ description: '1 to 10: candidates for each result.' })),
        contextTokenBudget: optional(
          Type.Integer({ description: 'Results beyond so many tokens (bytes of content / 4) are left out; 0: no cap.' }),
        ),
      },
      { description: 'Defaults of searches; what a request says goes first.' },
    ),
  ),
  responsePrompt: optional(Type.String({ description: 'How answers are to be put; at most 4 KiB.' })),
  trackAccess: optional(Type.Boolean({ description: 'Record each read.' })),
  trackHot: optional(Type.Boolean({ description: 'Keep a list of the documents that are read most.' })),
  spellCorrect: optional(Type.Boolean({ description: 'Correct full-text queries.' })),
  spellLang: optional(Type.String({ description: 'Language of the correction.' })),
  quantization: optional(word(['float32', 'int8', 'int4'], 'How vectors are kept.')),
  disk_only_vectors: optional(
    Type.Boolean({ description: 'Keep full vectors on disk only; needs `int8` or `int4`. Also `diskOnlyVectors`.' }),
  ),
  encrypted: optional(Type.Boolean({ description: 'Encrypt at rest. `true` is not available yet.' })),
  cms: optional(
    Type.Object(
      {
        url: optional(Type.String()),
        apiKey: optional(Type.String({ description: 'Never shown; `apiKeySet` says whether there is one. Empty: the stored one stays.' })),
      },
      { description: 'An external content-management system. Also `wordpress`.' },
    ),
  ),
}
const Config = mapOf(Type.Unsafe<unknown>({}), { description: 'The fields that were set.', examples: [{ type: 'default' }] })

export const getCollectionConfig = operation({
  ...inCollection,
  ...asked,
  name: 'getCollectionConfig',
  description: 'The configuration of a collection',
  cost: 'point',
  http: [{ method: 'GET', path: '/v1/collection-config' }],
  input: Type.Object({ collection }),
  output: shape('Credentials are empty; flags say whether they are set.', {
    collection: Type.String(),
    config: Config,
    configured: Type.Boolean({ description: 'False where nothing was ever set.' }),
  }),
})

export const setCollectionConfig = operation({
  ...inCollection,
  ...changed,
  name: 'setCollectionConfig',
  description: 'Changes the configuration of a collection: a field that is absent stays, null clears it',
  http: [{ method: 'PUT', path: '/v1/collection-config' }],
  input: Type.Object({
    collection,
    ...configFields,
    diskOnlyVectors: configFields.disk_only_vectors,
    wordpress: configFields.cms,
  }),
  output: shape('Done.', { status: Type.String({ examples: ['ok'] }), collection: Type.String() }),
  audit: 'write./v1/collection-config',
})

export const deleteCollectionConfig = operation({
  ...inCollection,
  ...changed,
  name: 'deleteCollectionConfig',
  description: 'Removes the configuration of a collection; its documents stay',
  http: [{ method: 'DELETE', path: '/v1/collection-config' }],
  input: Type.Object({ collection }),
  output: shape('Done, also where there was none.', { status: Type.String({ examples: ['deleted'] }), collection: Type.String() }),
  audit: 'write./v1/collection-config',
})

export const listCollectionConfigs = operation({
  group: 'Collection settings',
  collection: 'server',
  name: 'listCollectionConfigs',
  description: 'The configurations of all collections that have one',
  effect: 'read',
  permission: 'read',
  cost: 'search',
  http: [{ method: 'GET', path: '/v1/collection-configs' }],
  input: Type.Object({}),
  output: shape('Ordered by name.', {
    configs: Type.Array(Type.Object({ collection: Type.String(), config: Config })),
    total: Type.Integer(),
  }),
  deadlineMs: DEADLINE_SEARCH_MS,
  audit: null,
})

const term = text('A word or a few; compared without regard to case.', 'car')
const synonyms = Type.Array(Type.String(), { description: 'At most 64.', examples: [['automobile', 'motor vehicle']] })

export const listSynonyms = operation({
  ...inCollection,
  ...asked,
  name: 'listSynonyms',
  description: 'The synonyms of a collection',
  cost: 'search',
  http: [{ method: 'GET', path: '/v1/synonyms' }],
  input: Type.Object({ collection }),
  output: shape('Both documented forms at once.', {
    collection: Type.String(),
    synonyms: mapOf(Type.Array(Type.String()), { description: 'By term.' }),
    entries: Type.Array(Type.Object({ term: Type.String(), synonyms: Type.Array(Type.String()) })),
    total: Type.Integer({ description: 'Terms.' }),
  }),
})

export const setSynonyms = operation({
  ...inCollection,
  ...changed,
  name: 'setSynonyms',
  description:
    'Gives a term its synonyms, in place of those that it had: a search for the term finds them, too. Holds from the next search on.',
  http: [{ method: 'POST', path: '/v1/synonyms' }],
  input: Type.Object({ collection, term, synonyms }),
  output: shape('Done.', { status: Type.String({ examples: ['ok'] }) }),
  audit: 'write./v1/synonyms',
})

export const deleteSynonyms = operation({
  ...inCollection,
  ...changed,
  name: 'deleteSynonyms',
  description: 'Takes the synonyms of a term away',
  http: [{ method: 'DELETE', path: '/v1/synonyms' }],
  input: Type.Object({ collection, term }),
  output: shape('Done, also where there were none.', { status: Type.String({ examples: ['deleted'] }) }),
  audit: 'write./v1/synonyms',
})

const words = Type.Array(Type.String(), { description: 'At most 2 000.', examples: [['foo', 'bar']] })
const errors = Type.Optional(Type.Array(Type.String(), { description: 'Words that were left as they are, and why.' }))

export const listStopWords = operation({
  ...inCollection,
  ...asked,
  name: 'listStopWords',
  description: 'Words that searches of a collection pass over: those of the default language and its own',
  cost: 'point',
  http: [{ method: 'GET', path: '/v1/stopwords' }],
  input: Type.Object({ collection }),
  output: shape('Words, sorted.', {
    collection: Type.String(),
    entries: Type.Array(Type.Object({ word: Type.String(), isDefault: Type.Boolean() })),
    total: Type.Integer(),
    defaults: Type.Integer(),
    custom: Type.Integer(),
  }),
})

export const addStopWords = operation({
  ...inCollection,
  ...changed,
  name: 'addStopWords',
  description: 'Adds stop words to a collection. Holds from the next search on.',
  http: [{ method: 'POST', path: '/v1/stopwords' }],
  input: Type.Object({ collection, words }),
  output: shape('Done.', {
    status: Type.String({ examples: ['ok'] }),
    added: Type.Integer({ description: 'Words that were none before.' }),
    errors,
  }),
  audit: 'write./v1/stopwords',
})

export const deleteStopWords = operation({
  ...inCollection,
  ...changed,
  name: 'deleteStopWords',
  description: 'Takes stop words of a collection away. Default ones stay.',
  http: [{ method: 'DELETE', path: '/v1/stopwords' }],
  input: Type.Object({ collection, words }),
  output: shape('Done.', { status: Type.String({ examples: ['deleted'] }), deleted: Type.Integer(), errors }),
  audit: 'write./v1/stopwords',
})

const ruleFields = {
  query: text('The query that the rule is for.', 'getting started'),
  matchMode: optional(word(['exact', 'contains'], 'The whole query, or a part of it; without regard to case.', 'exact')),
  enabled: optional(Type.Boolean({ default: false })),
  pins: optional(
    Type.Array(
      Type.Object({
        key: optional(Type.String()),
        lang: optional(Type.String({ description: 'Without it the first language that the key has.' })),
        position: optional(Type.Integer({ description: 'From 1; 0 or below: behind the organic results.' })),
      }),
      { description: 'Documents and their places.', examples: [[{ key: 'intro', position: 1 }]] },
    ),
  ),
  hides: optional(Type.Array(Type.String(), { description: 'Keys of documents to leave out, in every language.' })),
}
const ruleIdOf = text('Id of the rule.', 'cur_5f0c7d3a9b1e2f4c6d8a0b1200000001')
const anyCollection = Type.Optional(Type.String({ description: 'Name of the collection.', examples: ['blog'] }))
const Rule = Type.Object(
  {
    id: Type.String(),
    collection: Type.String(),
    query: Type.String(),
    matchMode: Type.String(),
    enabled: Type.Boolean(),
    pins: Type.Array(Type.Object({ key: Type.String(), lang: Type.Optional(Type.String()), position: Type.Integer() })),
    hides: Type.Array(Type.String()),
    createdAt: unixSeconds('When the rule was made.'),
    updatedAt: unixSeconds('When it was replaced last.'),
  },
  { title: 'CurationRule' },
)

export const listCuration = operation({
  ...inCollection,
  ...asked,
  name: 'listCuration',
  description: 'Curation rules: one by its id, those of a collection, or all',
  cost: 'search',
  deadlineMs: DEADLINE_SEARCH_MS,
  http: [{ method: 'GET', path: '/v1/curation' }],
  input: Type.Object({ collection: anyCollection, id: Type.Optional(Type.String({ description: 'Then the answer is the rule itself.' })) }),
  output: shape('In the order in which they were made; with `id` the rule itself.', {
    rules: Type.Optional(Type.Array(Rule)),
    total: Type.Optional(wholeNumber('Rules.')),
    collection: Type.Optional(Type.String({ description: 'As asked; empty for all.' })),
  }),
  errors: ['notFound'],
})

export const addCuration = operation({
  ...inCollection,
  ...changed,
  name: 'addCuration',
  description: 'Makes a curation rule: for a query, documents at fixed places of the results and documents left out',
  http: [{ method: 'POST', path: '/v1/curation' }],
  input: Type.Object({ collection, ...ruleFields }),
  output: Rule,
  audit: 'write./v1/curation',
})

export const replaceCuration = operation({
  ...inCollection,
  ...changed,
  name: 'replaceCuration',
  description: 'Replaces a curation rule; id, collection and `createdAt` stay',
  http: [{ method: 'PUT', path: '/v1/curation' }],
  input: Type.Object({ id: ruleIdOf, collection: anyCollection, ...ruleFields }),
  output: Rule,
  errors: ['notFound'],
  audit: 'write./v1/curation',
})

export const deleteCuration = operation({
  ...inCollection,
  ...changed,
  name: 'deleteCuration',
  description: 'Deletes a curation rule',
  http: [{ method: 'DELETE', path: '/v1/curation' }],
  input: Type.Object({ id: ruleIdOf, collection: anyCollection }),
  output: shape('Done.', { status: Type.String({ examples: ['deleted'] }), id: Type.String() }),
  errors: ['notFound'],
  audit: 'write./v1/curation',
})

export const settingsOperations = [
  getCollectionConfig,
  setCollectionConfig,
  deleteCollectionConfig,
  listCollectionConfigs,
  listSynonyms,
  setSynonyms,
  deleteSynonyms,
  listStopWords,
  addStopWords,
  deleteStopWords,
  listCuration,
  addCuration,
  replaceCuration,
  deleteCuration,
] as const
