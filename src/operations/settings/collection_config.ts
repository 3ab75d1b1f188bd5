/** Rows of the configuration of collections. Pure data; rules in src/domain/settings/collection_config.ts. */
import { DEADLINE_SEARCH_MS } from '../../limits/lanes.js'
import { READABLE } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { also, collection, HTTP_ONLY, mapOf, operation, optional, required, shape, word } from '../row/schema.js'
import { asked, changed, inCollection } from './settings_common.js'

const storage = {
  endpoint: optional(Type.String(), { grpc: 1 }),
  bucket: optional(Type.String(), { grpc: 2 }),
  region: optional(Type.String(), { grpc: 3 }),
  accessKey: optional(Type.String(), { grpc: 4 }),
  secretKey: optional(
    Type.String({ description: 'Never returned; `secretKeySet` shows whether it is set. Empty: the stored key is kept.' }),
    { grpc: 5 },
  ),
  prefix: optional(Type.String(), { grpc: 6 }),
  useTLS: optional(Type.Boolean({ default: false }), { grpc: 7 }),
}
const cms = {
  url: optional(Type.String(), { grpc: 1 }),
  apiKey: optional(Type.String({ description: 'Never returned; `apiKeySet` shows whether it is set. Empty: the stored key is kept.' }), {
    grpc: 2,
  }),
}
/** The numbers of gRPC, with presence: a field that is not given keeps its value. */
const kept = (number: number, message?: string) => ({
  grpc: { number, hasPresence: true, ...(message === undefined ? {} : { message }) } as const,
})

const configFields = {
  type: optional(word(['default', 'website', 'images', 'audio', 'documents', 'scraping'], 'Kind of content in the collection.', 'default')),
  description: optional(Type.String({ description: 'What the collection contains.' })),
  icon: optional(Type.String({ description: 'Emoji.' })),
  color: optional(Type.String({ description: 'Hexadecimal color.' })),
  customMeta: optional(mapOf(Type.Unsafe<unknown>({}), { description: 'Custom key-value data.' })),
  storageBackend: optional(
    word(
      ['boltdb', 'memory', 's3'],
      'Where document bodies are stored: in the embedded store, in memory until the next restart, or in an object store.',
      'boltdb',
    ),
    kept(100),
  ),
  storageConfig: optional(Type.Object(storage, { description: 'Required for `s3`.' }), kept(101, 'StorageConfigProto')),
  maxRevisions: optional(Type.Integer({ description: 'Maximum number of revisions kept per document; 0: all.' })),
  retrieval: optional(
    Type.Object(
      {
        defaultSearchType: optional(word(['fts', 'vector', 'hybrid'], 'Default search type for clients; the server does not use it.')),
        topK: optional(Type.Integer({ description: 'Maximum number of results, 1 to 1000.' })),
        retrievalMode: optional(word(['parent', 'chunk', 'window'], 'Part of a document that a result contains.')),
        hybridStrategy: optional(word(['alpha', 'rrf'], 'How full-text and vector results are fused.')),
        hybridAlpha: optional(Type.Number({ description: '0: full text only, 1: vectors only. Takes effect only with `hybridAlphaSet`.' })),
        hybridAlphaSet: optional(Type.Boolean()),
        oversample: optional(Type.Number({ description: 'Candidates per result, 1 to 10.' })),
        contextTokenBudget: optional(
          Type.Integer({
            description: 'Maximum number of tokens in a response (bytes of content / 4); results beyond it are omitted. 0: no limit.',
          }),
        ),
      },
      { description: 'Defaults of searches. Parameters of a request take precedence.' },
    ),
  ),
  responsePrompt: optional(Type.String({ description: 'Instruction for the form of answers, at most 4 KiB.' })),
  trackAccess: optional(Type.Boolean({ description: 'Records each read.' }), kept(105)),
  trackHot: optional(Type.Boolean({ description: 'Maintains a list of the most read documents.' }), kept(106)),
  spellCorrect: optional(Type.Boolean({ description: 'Corrects full-text queries.' }), kept(107)),
  spellLang: optional(Type.String({ description: 'Language of the correction.' }), kept(108)),
  quantization: optional(
    word(
      ['float32', 'int8', 'int4'],
      'How vectors are searched if a request names no algorithm: `int8` and `int4` by codes of 8 or 4 bits, `float32` by the default algorithm of the server.',
    ),
    kept(102),
  ),
  disk_only_vectors: optional(
    Type.Boolean({
      description:
        'Full vectors are kept on disk only, as they are without this setting. Requires `int8` or `int4`. Alias: `diskOnlyVectors`.',
    }),
    kept(103),
  ),
  encrypted: optional(
    Type.Boolean({ description: 'Encrypts later writes at rest; a rotation encrypts existing data. Requires `SVC_ENCRYPTION_KEY`.' }),
    kept(104),
  ),
  cms: optional(Type.Object(cms, { description: 'An external content-management system. Alias: `wordpress`.' })),
}
const wordpress = also(configFields.cms, kept(109, 'CmsConfigProto'))

/** The configuration in an answer of gRPC: with the flags of the credentials, which are empty. */
const grpcConfig = Type.Object({
  ...configFields,
  storageConfig: optional(
    Type.Object({ ...storage, secretKeySet: optional(Type.Boolean(), { grpc: 8 }) }),
    kept(101, 'StorageConfigProto'),
  ),
  wordpress: optional(Type.Object({ ...cms, apiKeySet: optional(Type.Boolean(), { grpc: 3 }) }), kept(109, 'CmsConfigProto')),
})
const Config = mapOf(Type.Unsafe<unknown>({}), { description: 'The fields that were set.', examples: [{ type: 'default' }] })

export const getCollectionConfig = operation({
  ...inCollection,
  ...asked,
  name: 'getCollectionConfig',
  client: 'collections.getConfig',
  boundedBy: ['COLLECTION_CONFIG_BYTES_MAX'],
  protocols: { grpc: 'GetCollectionConfig', graphql: null, mcp: 'get_collection_config' },
  description: 'Returns the configuration of a collection',
  cost: 'point',
  http: { routes: [{ method: 'GET', path: '/v1/collection-config' }] },
  input: Type.Object({ collection }),
  output: shape('Credentials are empty; flags tell whether they are set.', {
    collection: Type.String(),
    config: required(Config, { grpcAs: grpcConfig }),
    configured: Type.Boolean({ description: 'False if nothing was ever set.' }),
  }),
})

export const setCollectionConfig = operation({
  ...inCollection,
  ...changed,
  name: 'setCollectionConfig',
  client: 'collections.setConfig',
  isIdempotent: true,
  nullClears: true,
  boundedBy: ['COLLECTION_CONFIG_BYTES_MAX'],
  protocols: { grpc: 'SetCollectionConfig', graphql: null, mcp: 'set_collection_config' },
  description: 'Changes the configuration of a collection; absent fields are kept, null clears a field',
  http: { routes: [{ method: 'PUT', path: '/v1/collection-config' }] },
  input: Type.Object({
    collection,
    ...configFields,
    diskOnlyVectors: configFields.disk_only_vectors,
    wordpress,
  }),
  output: shape('Done.', { status: Type.String({ examples: ['ok'] }), collection: Type.String() }),
  audit: 'write./v1/collection-config',
})

export const deleteCollectionConfig = operation({
  ...inCollection,
  ...changed,
  name: 'deleteCollectionConfig',
  client: 'collections.deleteConfig',
  boundedBy: ['COLLECTION_CONFIG_BYTES_MAX'],
  protocols: HTTP_ONLY,
  description: 'Deletes the configuration of a collection; its documents are kept',
  http: { routes: [{ method: 'DELETE', path: '/v1/collection-config' }] },
  input: Type.Object({ collection }),
  output: shape('Done, even if there was no configuration.', { status: Type.String({ examples: ['deleted'] }), collection: Type.String() }),
  audit: 'write./v1/collection-config',
})

export const listCollectionConfigs = operation({
  group: 'Collection settings',
  collections: READABLE,
  name: 'listCollectionConfigs',
  client: 'collections.listConfigs',
  boundedBy: ['COLLECTION_CONFIG_BYTES_MAX'],
  protocols: { grpc: 'ListCollectionConfigs', graphql: null, mcp: 'list_collection_configs' },
  description: 'Lists the configurations of all collections that have one',
  effect: 'read',
  permission: 'read',
  cost: 'search',
  http: { routes: [{ method: 'GET', path: '/v1/collection-configs' }] },
  input: Type.Object({}),
  output: shape('Configurations, ordered by name of the collection.', {
    configs: Type.Array(Type.Object({ collection: Type.String(), config: Config })),
    total: Type.Integer(),
  }),
  deadlineMs: DEADLINE_SEARCH_MS,
  audit: null,
})

export const configOperations = [getCollectionConfig, setCollectionConfig, deleteCollectionConfig, listCollectionConfigs] as const
