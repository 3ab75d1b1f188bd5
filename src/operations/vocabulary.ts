/** Rows of the synonyms and stop words of collections. Pure data; rules in src/domain/fulltext. */
import { Type } from './json_schema.js'
import { collection, mapOf, operation, shape, text } from './schema.js'
import { asked, changed, inCollection } from './settings_common.js'

const term = text('A word or a few; compared without regard to case.', 'car')
const synonyms = Type.Array(Type.String(), { description: 'At most 64.', examples: [['automobile', 'motor vehicle']] })

export const listSynonyms = operation({
  ...inCollection,
  ...asked,
  name: 'listSynonyms',
  description: 'The synonyms of a collection',
  cost: 'search',
  http: { routes: [{ method: 'GET', path: '/v1/synonyms' }] },
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
  http: { routes: [{ method: 'POST', path: '/v1/synonyms' }] },
  input: Type.Object({ collection, term, synonyms }),
  output: shape('Done.', { status: Type.String({ examples: ['ok'] }) }),
  audit: 'write./v1/synonyms',
})

export const deleteSynonyms = operation({
  ...inCollection,
  ...changed,
  name: 'deleteSynonyms',
  description: 'Takes the synonyms of a term away',
  http: { routes: [{ method: 'DELETE', path: '/v1/synonyms' }] },
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
  description: 'Adds stop words to a collection. Holds from the next search on.',
  http: { routes: [{ method: 'POST', path: '/v1/stopwords' }] },
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
  http: { routes: [{ method: 'DELETE', path: '/v1/stopwords' }] },
  input: Type.Object({ collection, words }),
  output: shape('Done.', { status: Type.String({ examples: ['deleted'] }), deleted: Type.Integer(), errors }),
  audit: 'write./v1/stopwords',
})

export const vocabularyOperations = [listSynonyms, setSynonyms, deleteSynonyms, listStopWords, addStopWords, deleteStopWords] as const
