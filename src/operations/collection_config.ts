/** Rows of the configuration of collections. Pure data; rules in src/domain/settings/collection_config.ts. */
import { DEADLINE_SEARCH_MS } from '../limits/deadlines.js'
import { READABLE } from './collection_access.js'
import { Type } from './json_schema.js'
import { collection, mapOf, operation, optional, shape, word } from './schema.js'
import { asked, changed, inCollection } from './settings_common.js'

const configFields = {
  type: optional(word(['default', 'website', 'images', 'audio', 'documents', 'scraping'], 'What the collection holds.', 'default')),
  description: optional(Type.String()),
  icon: optional(Type.String({ description: 'An emoji.' })),
  color: optional(Type.String({ description: 'Hexadecimal.' })),
  customMeta: optional(mapOf(Type.Unsafe<unknown>({}), { description: 'Whatever else is to be kept.' })),
  storageBackend: optional(
    word(
      ['boltdb', 'memory', 's3'],
      'Where bodies lie: in the embedded store, in memory until the next restart, or in an object store.',
      'boltdb',
    ),
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
  quantization: optional(
    word(
      ['float32', 'int8', 'int4'],
      'How vectors are searched where a request names no algorithm: by codes of so many bits, or as the server is told.',
    ),
  ),
  disk_only_vectors: optional(
    Type.Boolean({ description: 'Full vectors lie on disk only, as they do without it; needs `int8` or `int4`. Also `diskOnlyVectors`.' }),
  ),
  encrypted: optional(
    Type.Boolean({ description: 'Encrypt at rest what is written from now on; a rotation does the rest. Needs `SVC_ENCRYPTION_KEY`.' }),
  ),
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
  http: { routes: [{ method: 'GET', path: '/v1/collection-config' }] },
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
  http: { routes: [{ method: 'PUT', path: '/v1/collection-config' }] },
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
  http: { routes: [{ method: 'DELETE', path: '/v1/collection-config' }] },
  input: Type.Object({ collection }),
  output: shape('Done, also where there was none.', { status: Type.String({ examples: ['deleted'] }), collection: Type.String() }),
  audit: 'write./v1/collection-config',
})

export const listCollectionConfigs = operation({
  group: 'Collection settings',
  collections: READABLE,
  name: 'listCollectionConfigs',
  description: 'The configurations of all collections that have one',
  effect: 'read',
  permission: 'read',
  cost: 'search',
  http: { routes: [{ method: 'GET', path: '/v1/collection-configs' }] },
  input: Type.Object({}),
  output: shape('Ordered by name.', {
    configs: Type.Array(Type.Object({ collection: Type.String(), config: Config })),
    total: Type.Integer(),
  }),
  deadlineMs: DEADLINE_SEARCH_MS,
  audit: null,
})

export const configOperations = [getCollectionConfig, setCollectionConfig, deleteCollectionConfig, listCollectionConfigs] as const
