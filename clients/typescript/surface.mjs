/**
 * The names of the client's methods: noun -> method -> operation, in the order in which readers meet them.
 * scripts/generate-client.mjs makes src/generated.ts from them and from the rows of the server. A row that is
 * offered over HTTP and has no name here fails the generation.
 */

export const NOUNS = {
  documents: {
    add: 'add',
    addBatch: 'addBatch',
    get: 'get',
    getMeta: 'docMeta',
    update: 'update',
    delete: 'delete',
    deleteBatch: 'deleteBatch',
    setTtl: 'setTtl',
  },
  ingestJobs: { submit: 'submitBulkIngest', get: 'getBulkIngest', list: 'listBulkIngests', cancel: 'cancelBulkIngest' },
  revisions: { list: 'revisions', diff: 'revisionDiff', restore: 'restoreRevision', truncate: 'truncate' },
  temporal: { events: 'temporalQuery', hot: 'temporalHot', histogram: 'temporalHistogram' },
  collections: {
    delete: 'deleteCollection',
    metaKeys: 'metaKeys',
    checksum: 'checksum',
    aggregate: 'aggregate',
    getConfig: 'getCollectionConfig',
    setConfig: 'setCollectionConfig',
    deleteConfig: 'deleteCollectionConfig',
    listConfigs: 'listCollectionConfigs',
  },
  schemas: { get: 'getSchema', set: 'setSchema', delete: 'deleteSchema', list: 'listSchemas', validate: 'validate' },
  synonyms: { list: 'listSynonyms', set: 'setSynonyms', delete: 'deleteSynonyms' },
  stopWords: { list: 'listStopWords', add: 'addStopWords', delete: 'deleteStopWords' },
  curation: { list: 'listCuration', add: 'addCuration', replace: 'replaceCuration', delete: 'deleteCuration' },
  search: {
    fulltext: 'fts',
    fulltextByUrl: 'ftsQuery',
    multi: 'multiSearch',
    vector: 'vectorSearch',
    hybrid: 'hybridSearch',
    cross: 'crossSearch',
    classify: 'classify',
    duplicates: 'findDuplicates',
    projection: 'vectorProjection',
    autocomplete: 'autocomplete',
    languages: 'ftsLanguages',
    advise: 'searchAdvisor',
  },
  indexes: { rebuildFulltext: 'ftsReindex', rebuildVectors: 'vectorReindex', vectorStats: 'vectorStats' },
  spelling: {
    suggest: 'spellSuggest',
    cleanup: 'spellCleanup',
    getDictionary: 'getSpellDictionary',
    addWords: 'addSpellWords',
    deleteWords: 'deleteSpellWords',
  },
  auth: { login: 'login', me: 'me', createApiKey: 'createApiKey', listApiKeys: 'listApiKeys', deleteApiKey: 'deleteApiKey' },
  users: {
    register: 'register',
    list: 'listUsers',
    change: 'changeUser',
    delete: 'deleteUser',
    listPermissions: 'listPermissions',
    setPermission: 'setPermission',
  },
  groups: {
    create: 'createGroup',
    get: 'getGroup',
    list: 'listGroups',
    update: 'updateGroup',
    delete: 'deleteGroup',
    listPermissions: 'listGroupPermissions',
    setPermission: 'setGroupPermission',
  },
  mcpKeys: { create: 'createMcpKey', list: 'listMcpKeys', disable: 'disableMcpKey', delete: 'deleteMcpKey', config: 'mcpConfig' },
  backups: { create: 'backup', restore: 'restore', list: 'listBackups', delete: 'deleteBackup' },
  encryption: { status: 'encryptionStatus', rotate: 'rotateEncryption', listJobs: 'encryptionJobs', getJob: 'encryptionJob' },
  embeddingConfigs: {
    create: 'createEmbeddingConfig',
    get: 'getEmbeddingConfig',
    list: 'listEmbeddingConfigs',
    update: 'updateEmbeddingConfig',
    delete: 'deleteEmbeddingConfig',
    setDefault: 'setDefaultEmbeddingConfig',
  },
  admin: {
    stats: 'stats',
    config: 'config',
    systemInfo: 'systemInfo',
    metrics: 'metrics',
    complianceStatus: 'complianceStatus',
    auditEvents: 'auditEvents',
    auditExporters: 'auditExporters',
    profiles: 'profiles',
    cpuProfile: 'cpuProfile',
    heapProfile: 'heapProfile',
  },
  server: {
    health: 'health',
    livez: 'livez',
    readyz: 'readyz',
    endpoints: 'endpoints',
    openapi: 'openapi',
    docs: 'docs',
    playground: 'playground',
  },
}

/** Operations whose methods are written by hand: `documents.search`, `export`, `exportArchive`, `graphql`. */
export const BY_HAND = ['search', 'export', 'graphql']

/**
 * Writes that leave the same state, and give the same answer, however often they are sent: each sets what it
 * names and keeps no revision. `add` is one of them with `skipRevision: true` only, as its call says.
 */
export const IDEMPOTENT = [
  'setTtl',
  'setCollectionConfig',
  'setSchema',
  'setSynonyms',
  'replaceCuration',
  'setPermission',
  'setGroupPermission',
  'updateGroup',
  'updateEmbeddingConfig',
  'setDefaultEmbeddingConfig',
]

/**
 * What is no write by its row and yet may make something: a backup, and a document of GraphQL, which may be a
 * mutation.
 */
export const MAY_WRITE = ['backup', 'graphql']

/** Operations in which null clears a field, while an absent one keeps what is stored. */
export const NULL_CLEARS = ['setCollectionConfig', 'updateEmbeddingConfig']
