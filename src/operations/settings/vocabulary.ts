/** Rows of the synonyms and stop words of collections. Pure data; rules in src/domain/fulltext. */
import { Type } from '../row/json_schema.js'
import { collection, mapOf, operation, shape, text } from '../row/schema.js'
import { asked, changed, inCollection } from './settings_common.js'

const term = text('One word or a few; case-insensitive.', 'car')
const synonyms = Type.Array(Type.String(), { description: 'Synonyms, at most 64.', examples: [['automobile', 'motor vehicle']] })

export const listSynonyms = operation({
  ...inCollection,
  ...asked,
  name: 'listSynonyms',
  client: 'synonyms.list',
  boundedBy: ['SYNONYMS_PER_TERM_MAX', 'SETTING_TEXT_BYTES_MAX'],
  protocols: { grpc: 'ListSynonyms', graphql: null, mcp: 'list_synonyms' },
  description: 'Lists the synonyms of a collection',
  cost: 'search',
  http: { routes: [{ method: 'GET', path: '/v1/synonyms' }] },
  input: Type.Object({ collection }),
  output: shape('An object with the fields of both documented forms.', {
    collection: Type.String(),
    synonyms: mapOf(Type.Array(Type.String()), { description: 'Synonyms by term.' }),
    entries: Type.Array(Type.Object({ term: Type.String(), synonyms: Type.Array(Type.String()) })),
    total: Type.Integer({ description: 'Number of terms.' }),
  }),
})

export const setSynonyms = operation({
  ...inCollection,
  ...changed,
  name: 'setSynonyms',
  client: 'synonyms.set',
  isIdempotent: true,
  boundedBy: ['SYNONYMS_PER_TERM_MAX', 'SETTING_TEXT_BYTES_MAX'],
  protocols: { grpc: 'AddSynonym', graphql: null, mcp: 'add_synonym' },
  description:
    'Sets the synonyms of a term, replacing existing ones: a search for the term also finds its synonyms. Takes effect with the next search.',
  http: { routes: [{ method: 'POST', path: '/v1/synonyms' }] },
  input: Type.Object({ collection, term, synonyms }),
  output: shape('Done.', { status: Type.String({ examples: ['ok'] }) }),
  audit: 'write./v1/synonyms',
})

export const deleteSynonyms = operation({
  ...inCollection,
  ...changed,
  name: 'deleteSynonyms',
  client: 'synonyms.delete',
  boundedBy: ['SYNONYMS_PER_TERM_MAX', 'SETTING_TEXT_BYTES_MAX'],
  protocols: { grpc: 'DeleteSynonym', graphql: null, mcp: 'delete_synonym' },
  description: 'Removes the synonyms of a term',
  http: { routes: [{ method: 'DELETE', path: '/v1/synonyms' }] },
  input: Type.Object({ collection, term }),
  output: shape('Done, even if there were none.', { status: Type.String({ examples: ['deleted'] }) }),
  audit: 'write./v1/synonyms',
})

const words = Type.Array(Type.String(), { description: 'Words, at most 2 000.', examples: [['foo', 'bar']] })
const errors = Type.Optional(Type.Array(Type.String(), { description: 'Words that were left unchanged, with the reason.' }))

export const listStopWords = operation({
  ...inCollection,
  ...asked,
  name: 'listStopWords',
  client: 'stopWords.list',
  boundedBy: ['SYNONYMS_PER_TERM_MAX', 'SETTING_TEXT_BYTES_MAX'],
  protocols: { grpc: 'ListStopwords', graphql: null, mcp: 'list_stopwords' },
  description: 'Lists the words that searches of a collection ignore: those of the default language and its own',
  cost: 'point',
  http: { routes: [{ method: 'GET', path: '/v1/stopwords' }] },
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
  client: 'stopWords.add',
  boundedBy: ['SYNONYMS_PER_TERM_MAX', 'SETTING_TEXT_BYTES_MAX'],
  protocols: { grpc: 'AddStopwords', graphql: null, mcp: 'add_stopwords' },
  description: 'Adds stop words to a collection. Takes effect with the next search.',
  http: { routes: [{ method: 'POST', path: '/v1/stopwords' }] },
  input: Type.Object({ collection, words }),
  output: shape('Done.', {
    status: Type.String({ examples: ['ok'] }),
    added: Type.Integer({ description: 'Number of words that were not stop words before.' }),
    errors,
  }),
  audit: 'write./v1/stopwords',
})

export const deleteStopWords = operation({
  ...inCollection,
  ...changed,
  name: 'deleteStopWords',
  client: 'stopWords.delete',
  boundedBy: ['SYNONYMS_PER_TERM_MAX', 'SETTING_TEXT_BYTES_MAX'],
  protocols: { grpc: 'DeleteStopwords', graphql: null, mcp: 'delete_stopwords' },
  description: 'Removes stop words of a collection. Default stop words are kept.',
  http: { routes: [{ method: 'DELETE', path: '/v1/stopwords' }] },
  input: Type.Object({ collection, words }),
  output: shape('Done.', { status: Type.String({ examples: ['deleted'] }), deleted: Type.Integer(), errors }),
  audit: 'write./v1/stopwords',
})

export const vocabularyOperations = [listSynonyms, setSynonyms, deleteSynonyms, listStopWords, addStopWords, deleteStopWords] as const
