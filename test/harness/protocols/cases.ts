/**
 * One case for each operation that has more than one protocol: an input that works, in the form of HTTP, and
 * what must be the same in every answer.
 */
import type { Fields } from './outcome.js'

const OWN = 'own'
const document = { collection: OWN, key: 'hello-world', lang: 'en' }

export interface Case {
  readonly input: Fields
  /** The comparable part of an answer, from the form of any protocol. Default: that there is one. */
  readonly view?: (value: unknown) => unknown
  /** Run before the call, by HTTP: operation and input. */
  readonly before?: readonly (readonly [operation: string, input: Fields])[]
  /** Its documents must have vectors first. */
  readonly needsVectors?: true
  /** Changes what later cases read, so the collection is filled again. */
  readonly writes?: true
}

type Names = readonly string[]

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

/** These members only. A protocol that leaves out empty ones has them as absent. */
const members =
  (...names: Names) =>
  (value: unknown): unknown =>
    Object.fromEntries(names.map((name) => [name, fieldsOf(value)[name]]))

/** The items of a list, which protocols wrap under different names. */
function itemsOf(value: unknown): readonly Fields[] {
  if (Array.isArray(value)) return value as readonly Fields[]
  const lists = Object.values(fieldsOf(value)).filter((each): each is readonly Fields[] => Array.isArray(each))
  return lists.find((list) => typeof list[0] === 'object') ?? lists[0] ?? []
}

const DOCUMENT = members('key', 'lang', 'meta', 'contentMd')
const hit = (item: Fields): unknown => fieldsOf(item['document'] ?? item['node'] ?? item)['key']
const KEYS = (value: unknown): unknown => itemsOf(value).map(hit)
const names =
  (name: string) =>
  (value: unknown): unknown =>
    itemsOf(value)
      .map((item) => (typeof item === 'string' ? item : item[name]))
      .sort()
/** A resource is the content itself. */
const CONTENT = (value: unknown): unknown => (typeof value === 'string' ? value : fieldsOf(value)['contentMd'])
const DELETED = (value: unknown): unknown =>
  value === true || fieldsOf(value)['deleted'] === true || fieldsOf(value)['status'] === 'deleted'
const LINES = (value: unknown): unknown =>
  (typeof value === 'string' ? value : JSON.stringify(value)).split('\n').filter((line) => line.includes('hello-world')).length > 0

const hook = { collection: OWN, url: 'https://hooks.invalid/h', events: ['doc.added'] }
const synonym = { collection: OWN, term: 'word', synonyms: ['term'] }
const rule = {
  collection: OWN,
  query: 'word',
  matchMode: 'exact',
  pins: [{ key: 'second', lang: 'en', position: 1 }],
  hides: [],
  enabled: true,
}
const schema = { collection: OWN, schema: { properties: { category: { type: 'string' } } } }
const setSchema = ['setSchema', schema] as const
const vector = { collection: OWN, query: 'a word', topK: 3 }

export const CASES: Readonly<Record<string, Case>> = {
  add: { input: { ...document, contentMd: 'new words', meta: { category: ['x', 'y'] } }, view: DOCUMENT, writes: true },
  addBatch: {
    input: {
      collection: OWN,
      documents: [
        { key: 'a', lang: 'en', contentMd: 'x', meta: { n: ['1'] } },
        { key: 'hello-world', lang: 'en', contentMd: 'y', meta: {} },
      ],
    },
    view: members('added', 'updated', 'failed'),
    writes: true,
  },
  ingest: {
    input: {
      collection: OWN,
      documents: [
        {
          url: 'https://example.com/docs/start.html',
          lang: 'en',
          contentMd: 'x',
          meta: { n: ['1'] },
          scraper: 'crawl',
          scrapedAt: 1735689600,
        },
        { key: 'hello-world', lang: 'en', contentMd: '---\ntags: [y]\n---\ny', extractFrontmatter: true },
      ],
      options: { skipDuplicates: true },
    },
    view: members('added', 'updated', 'skipped', 'failed', 'collection'),
    writes: true,
  },
  get: { input: document, view: CONTENT },
  search: { input: { collection: OWN, filterMeta: { category: ['tutorial'] }, sort: 'key', limit: 5 }, view: KEYS },
  update: { input: { ...document, contentMd: 'changed' }, view: DOCUMENT, writes: true },
  docMeta: { input: document, view: members('key', 'lang', 'meta') },
  delete: { input: document, view: DELETED, writes: true },
  deleteBatch: {
    input: {
      collection: OWN,
      documents: [
        { key: 'hello-world', lang: 'en' },
        { key: 'nothing', lang: 'en' },
      ],
    },
    view: (value) => [fieldsOf(value)['deleted'], fieldsOf(value)['notFound'] ?? fieldsOf(value)['not_found'], fieldsOf(value)['failed']],
    writes: true,
  },
  setTtl: { input: { ...document, ttl: 3600 }, view: DOCUMENT, writes: true },
  revisions: { input: document, view: (value) => itemsOf(value).length },
  truncate: { input: { collection: OWN, keepRevs: 1 }, view: members('status'), writes: true },
  temporalQuery: { input: document, view: (value) => itemsOf(value).length },
  temporalHot: { input: { collection: OWN, topN: 3 } },
  deleteCollection: {
    input: { collection: OWN },
    view: (value) => (typeof value === 'number' ? value : fieldsOf(value)['deletedCount']),
    writes: true,
  },
  metaKeys: { input: { collection: OWN }, view: (value) => fieldsOf(fieldsOf(value)['meta'] ?? value)['category'] },
  checksum: { input: { collection: OWN }, view: members('checksum', 'documentCount') },
  aggregate: { input: { collection: OWN, facets: [{ field: 'category' }] } },
  getCollectionConfig: { input: { collection: OWN } },
  setCollectionConfig: { input: { collection: OWN, description: 'described' }, view: members('status', 'collection') },
  listCollectionConfigs: { input: {} },
  setSchema: { input: schema, view: (value) => value === true || fieldsOf(value)['status'] === 'ok', writes: true },
  getSchema: { input: { collection: OWN }, before: [setSchema], view: members('collection', 'enabled'), writes: true },
  deleteSchema: {
    input: { collection: OWN },
    before: [setSchema],
    view: (value) => value === true || 'status' in fieldsOf(value),
    writes: true,
  },
  listSchemas: { input: {}, before: [setSchema], view: names('collection'), writes: true },
  validate: { input: { collection: OWN, meta: { category: ['x'] } }, view: members('valid') },
  listSynonyms: { input: { collection: OWN }, before: [['setSynonyms', synonym]], view: members('total') },
  setSynonyms: { input: synonym },
  deleteSynonyms: { input: { collection: OWN, term: 'word' }, before: [['setSynonyms', synonym]] },
  listStopWords: { input: { collection: OWN }, view: members('total') },
  addStopWords: { input: { collection: OWN, words: ['zzz'] }, view: members('status') },
  deleteStopWords: {
    input: { collection: OWN, words: ['zzz'] },
    before: [['addStopWords', { collection: OWN, words: ['zzz'] }]],
    view: members('deleted'),
  },
  listCuration: { input: { collection: OWN } },
  addCuration: { input: rule, view: members('collection', 'query', 'enabled') },
  replaceCuration: { input: { ...rule, id: '$rule', query: 'other' }, view: members('query') },
  deleteCuration: { input: { id: '$rule' } },
  listWebhooks: { input: {}, before: [['registerWebhook', hook]], view: (value) => itemsOf(value).length > 0 },
  registerWebhook: { input: hook, view: members('url', 'events', 'collection') },
  deleteWebhook: { input: { id: '$hook' }, view: DELETED },
  fts: { input: { collection: OWN, query: 'word', limit: 5 }, view: KEYS },
  ftsReindex: { input: { collection: OWN }, view: members('reindexed') },
  ftsLanguages: { input: {}, view: names('code') },
  autocomplete: { input: { collection: OWN, q: 'wo' } },
  spellSuggest: { input: { collection: OWN, text: 'wrod', lang: 'en' }, view: members('originalText', 'suggestedText') },
  spellCleanup: { input: { collection: OWN, text: 'wrod', lang: 'en' }, view: members('original', 'cleaned') },
  searchAdvisor: { input: { collection: OWN } },
  vectorSearch: { input: vector, view: KEYS, needsVectors: true },
  vectorReindex: { input: { collection: OWN, force: true } },
  vectorStats: { input: {}, view: members('enabled', 'provider', 'model', 'dimensions') },
  crossSearch: { input: { query: 'a word', targetCollections: [OWN], topK: 3 }, view: KEYS, needsVectors: true },
  classify: { input: { ...document, labels: ['words', 'ships'] }, view: names('label'), needsVectors: true },
  findDuplicates: { input: { collection: OWN, mode: 'exact' }, view: members('totalDocuments') },
  hybridSearch: { input: { collection: OWN, query: 'a word', topK: 3 }, view: KEYS, needsVectors: true },
  startMemorySession: {
    input: { userId: 'alice', scenario: 'support', title: 'A bill', meta: { topic: ['bills'] }, ttl: 3600 },
    view: members('userId', 'scenario', 'title', 'meta'),
  },
  addMemoryMessage: {
    input: { sessionId: '$session', role: 'user', content: 'My bill is wrong.', meta: { tone: ['calm'] } },
    view: members('role'),
  },
  recallMemory: { input: { query: 'bill', sessionId: '$talk', strategy: 'keyword', includeContent: false }, view: names('role') },
  summarizeMemory: { input: { sessionId: '$talk' }, view: members('summary', 'messages') },
  listMemorySessions: { input: { userId: 'nobody', sort: 'createdAt', limit: 5 } },
  memoryHistory: { input: { sessionId: '$talk' }, view: names('role') },
  export: { input: { collection: OWN, format: 'ndjson' }, view: LINES },
  backup: { input: {} },
  restore: { input: { from: '$backup' }, view: (value) => typeof fieldsOf(value)['restored'], writes: true },
  login: { input: { username: 'reader', password: '$password' }, view: (value) => typeof fieldsOf(value)['token'] },
  me: { input: {}, view: members('username', 'admin') },
  register: { input: { username: '$fresh', password: '$password' } },
  listUsers: { input: {}, view: names('username') },
  listGroups: { input: {}, view: names('name') },
  createGroup: { input: { name: '$fresh', description: 'd', members: ['reader'] }, view: members('description', 'members') },
  updateGroup: {
    input: { name: 'readers', description: 'changed', members: ['grouped'] },
    view: members('name', 'description', 'members'),
  },
  deleteGroup: { input: { name: '$group' } },
  listPermissions: { input: { username: 'reader' }, view: names('collection') },
  setPermission: { input: { username: 'nothing', collection: 'elsewhere', read: true, write: false, admin: false } },
  listGroupPermissions: { input: { group: 'readers', groupName: 'readers' }, view: names('collection') },
  setGroupPermission: {
    input: { group: 'readers', groupName: 'readers', collection: 'elsewhere', read: true, write: false, admin: false },
  },
  createApiKey: { input: { description: 'a key' }, view: members('description') },
  stats: { input: {}, view: members('totalDocuments', 'mode') },
  health: { input: {}, view: (value) => fieldsOf(typeof value === 'string' ? JSON.parse(value) : value)['status'] },
  submitBulkIngest: { input: { collection: OWN, documents: [{ key: 'b', lang: 'en', contentMd: 'x' }] }, writes: true },
  getBulkIngest: { input: { id: '$job' }, view: members('collection') },
  listBulkIngests: { input: { collection: OWN } },
  restoreRevision: { input: { ...document, timestamp: '$timestamp' }, view: DOCUMENT, writes: true },
}

/** Rows without a case, each with the test that compares its protocols. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  updateBatch: 'it has no HTTP form: test/contract/grpc/batches.test.ts',
  importUrl: 'it needs a server of pages: test/contract/inputs/import_url.test.ts',
  importWiki: 'its input over HTTP is a dump: test/contract/inputs/import_wiki.test.ts',
  upload: 'its input over HTTP is a form: test/contract/inputs/upload_bounds.deep.test.ts',
  cancelBulkIngest: 'a job that has not ended cannot be had each time: test/contract/mcp/tools.test.ts',
}
