/** Rows of stored embedding configurations. Pure data; rules in src/domain/settings/embedding_configs.ts. */
import { DEADLINE_POINT_MS, DEADLINE_WRITE_MS } from '../limits/deadlines.js'
import { SERVER } from './collection_access.js'
import { Type } from './json_schema.js'
import { internal, operation, optional, shape, text, unixSeconds, word } from './schema.js'

const onServer = { group: 'System', collections: SERVER, permission: 'admin' } as const
const asked = { ...onServer, effect: 'read', cost: 'point', deadlineMs: DEADLINE_POINT_MS, audit: null } as const
const changed = {
  ...onServer,
  effect: 'write',
  cost: 'write',
  deadlineMs: DEADLINE_WRITE_MS,
} as const

const id = text('Id of the configuration, at most 128 bytes. Its own: two have not the same.', 'multilingual')
const PROVIDERS = ['openai', 'ollama', 'voyage', 'cohere', 'local']

const fields = {
  name: text('For people, at most 256 bytes.', 'Multilingual, hosted'),
  provider: word(PROVIDERS, 'Who makes the vectors.'),
  model: text('The name that the provider has for the model.', 'text-embedding-3-large'),
  dimensions: Type.Integer({ minimum: 1, description: 'Of the vectors that it makes.', examples: [1024] }),
}
const more = {
  apiKey: optional(Type.String({ description: 'Never answered. Empty or absent: the stored one stays.' })),
  apiUrl: optional(Type.String({ description: 'Base address. Empty: the provider’s own.' })),
  isDefault: optional(Type.Boolean({ description: 'Whether it makes the vectors from now on.' })),
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
    apiKeySet: Type.Boolean({ description: 'Whether there is a key.' }),
    isDefault: Type.Boolean(),
    createdAt: unixSeconds('When it was made.'),
  },
  { title: 'EmbeddingConfig' },
)

export const listEmbeddingConfigs = operation({
  ...asked,
  name: 'listEmbeddingConfigs',
  description: 'Configurations of embedding providers',
  http: { routes: [{ method: 'GET', path: '/v1/embedding-configs' }] },
  input: Type.Object({}),
  output: shape('In the order in which they were made.', { configs: Type.Array(Config) }),
})

export const getEmbeddingConfig = operation({
  ...asked,
  name: 'getEmbeddingConfig',
  description: 'One configuration of an embedding provider',
  http: { routes: [{ method: 'GET', path: '/v1/embedding-configs/:id' }] },
  input: Type.Object({ id }),
  output: Config,
  errors: ['notFound'],
})

export const createEmbeddingConfig = operation({
  ...changed,
  name: 'createEmbeddingConfig',
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
  description: 'Changes the named fields of a configuration; `apiKey` null takes the key away',
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
  description: 'Has a configuration make the vectors from now on, in place of what the options of the server say',
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
  description: 'The default configuration with its key',
  effect: 'read',
  cost: 'point',
  deadlineMs: DEADLINE_POINT_MS,
  input: Type.Object({}),
  output: Type.Object({ settings: optional(Type.Object({ id: Type.String() })) }),
})
