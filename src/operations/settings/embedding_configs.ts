/** Rows of stored embedding configurations. Pure data; rules in src/domain/settings/embedding_configs.ts. */
import { DEADLINE_POINT_MS, DEADLINE_WRITE_MS } from '../../limits/lanes.js'
import { SERVER } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { HTTP_ONLY, internal, operation, optional, shape, text, unixSeconds, word } from '../row/schema.js'

const onServer = { group: 'System', collections: SERVER, permission: 'admin' } as const
const asked = { ...onServer, effect: 'read', cost: 'point', deadlineMs: DEADLINE_POINT_MS, audit: null } as const
const changed = {
  ...onServer,
  effect: 'write',
  cost: 'write',
  deadlineMs: DEADLINE_WRITE_MS,
} as const

const id = text('Unique id of the configuration, at most 128 bytes.', 'multilingual')
const PROVIDERS = ['openai', 'ollama', 'voyage', 'cohere', 'local']

const fields = {
  name: text('Display name, at most 256 bytes.', 'Multilingual, hosted'),
  provider: word(PROVIDERS, 'Embedding provider.'),
  model: text('Name of the model at the provider.', 'text-embedding-3-large'),
  dimensions: Type.Integer({ minimum: 1, description: 'Number of dimensions of the vectors.', examples: [1024] }),
}
const more = {
  apiKey: optional(Type.String({ description: 'Never returned. Empty or absent: the stored key is kept.' })),
  apiUrl: optional(Type.String({ description: 'Base URL. Empty: the default of the provider.' })),
  isDefault: optional(Type.Boolean({ description: 'Whether this configuration is used for embedding from now on.' })),
}
const Config = Type.Object(
  {
    id: Type.String({ examples: ['multilingual'] }),
    name: Type.String(),
    provider: Type.String({ examples: ['openai'] }),
    model: Type.String(),
    dimensions: Type.Integer(),
    apiUrl: Type.String(),
    apiKey: Type.String({ description: 'Always empty.', examples: [''] }),
    apiKeySet: Type.Boolean({ description: 'Whether a key is stored.' }),
    isDefault: Type.Boolean(),
    createdAt: unixSeconds('When the configuration was created.'),
  },
  { title: 'EmbeddingConfig' },
)

export const listEmbeddingConfigs = operation({
  ...asked,
  name: 'listEmbeddingConfigs',
  client: 'embeddingConfigs.list',
  boundedBy: ['SETTING_TEXT_BYTES_MAX'],
  protocols: HTTP_ONLY,
  description: 'Lists the configurations of embedding providers',
  http: { routes: [{ method: 'GET', path: '/v1/embedding-configs' }] },
  input: Type.Object({}),
  output: shape('Configurations in order of creation.', { configs: Type.Array(Config) }),
})

export const getEmbeddingConfig = operation({
  ...asked,
  name: 'getEmbeddingConfig',
  client: 'embeddingConfigs.get',
  boundedBy: ['SETTING_TEXT_BYTES_MAX'],
  protocols: HTTP_ONLY,
  description: 'Returns a configuration of an embedding provider',
  http: { routes: [{ method: 'GET', path: '/v1/embedding-configs/:id' }] },
  input: Type.Object({ id }),
  output: Config,
  errors: ['notFound'],
})

export const createEmbeddingConfig = operation({
  ...changed,
  name: 'createEmbeddingConfig',
  client: 'embeddingConfigs.create',
  boundedBy: ['SETTING_TEXT_BYTES_MAX'],
  protocols: HTTP_ONLY,
  description: 'Stores a configuration of an embedding provider; it is used once it is the default',
  http: { routes: [{ method: 'POST', path: '/v1/embedding-configs' }], successStatus: 201 },
  input: Type.Object({ id, ...fields, ...more }),
  output: Config,
  errors: ['embeddingConfigExists'],
  audit: 'write./v1/embedding-configs',
})

export const updateEmbeddingConfig = operation({
  ...changed,
  name: 'updateEmbeddingConfig',
  client: 'embeddingConfigs.update',
  isIdempotent: true,
  nullClears: true,
  boundedBy: ['SETTING_TEXT_BYTES_MAX'],
  protocols: HTTP_ONLY,
  description: 'Updates the given fields of a configuration; `apiKey` null removes the key',
  http: { routes: [{ method: 'PUT', path: '/v1/embedding-configs/:id' }] },
  input: Type.Object({
    id,
    name: optional(fields.name),
    provider: optional(fields.provider),
    model: optional(fields.model),
    dimensions: optional(fields.dimensions),
    ...more,
  }),
  output: Config,
  errors: ['notFound'],
  audit: 'write./v1/embedding-configs/:id',
})

export const deleteEmbeddingConfig = operation({
  ...changed,
  name: 'deleteEmbeddingConfig',
  client: 'embeddingConfigs.delete',
  boundedBy: ['SETTING_TEXT_BYTES_MAX'],
  protocols: HTTP_ONLY,
  description: 'Deletes a configuration that is not the default',
  http: { routes: [{ method: 'DELETE', path: '/v1/embedding-configs/:id' }], successStatus: 204 },
  input: Type.Object({ id }),
  output: Type.Object({}),
  errors: ['notFound', 'embeddingConfigDefault'],
  audit: 'write./v1/embedding-configs/:id',
})

export const setDefaultEmbeddingConfig = operation({
  ...changed,
  name: 'setDefaultEmbeddingConfig',
  client: 'embeddingConfigs.setDefault',
  isIdempotent: true,
  boundedBy: ['SETTING_TEXT_BYTES_MAX'],
  protocols: HTTP_ONLY,
  description: 'Makes a configuration the default for embedding; it overrides the options of the server',
  http: { routes: [{ method: 'POST', path: '/v1/embedding-configs/set-default' }] },
  input: Type.Object({ id }),
  output: shape('Done.', { message: Type.String({ examples: ['default config updated'] }) }),
  errors: ['notFound'],
  audit: 'write./v1/embedding-configs/set-default',
})

export const embeddingConfigOperations = [
  listEmbeddingConfigs,
  getEmbeddingConfig,
  createEmbeddingConfig,
  updateEmbeddingConfig,
  deleteEmbeddingConfig,
  setDefaultEmbeddingConfig,
] as const

/** Requested by the front end from a lane to create the active provider. No surface offers it. */
export const activeEmbeddingConfig = internal({
  name: 'activeEmbeddingConfig',
  boundedBy: ['EMBEDDINGS_WANTED_MAX'],
  description: 'Returns the default configuration with its key',
  effect: 'read',
  cost: 'point',
  deadlineMs: DEADLINE_POINT_MS,
  input: Type.Object({}),
  output: Type.Object({ settings: optional(Type.Object({ id: Type.String() })) }),
})
