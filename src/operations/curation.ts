/** Rows of curation rules. Pure data; rules in src/domain/settings/curation.ts. */
import { DEADLINE_SEARCH_MS } from '../limits/deadlines.js'
import { Type } from './json_schema.js'
import { collection, operation, optional, shape, text, unixSeconds, wholeNumber, word } from './schema.js'
import { asked, changed, inCollection } from './settings_common.js'

const ruleFields = {
  query: text('The query that the rule is for.', 'getting started'),
  matchMode: optional(word(['exact', 'contains'], 'The whole query, or a part of it; without regard to case.', 'exact')),
  enabled: optional(Type.Boolean({ default: false })),
  pins: optional(
    Type.Array(
      Type.Object(
        {
          key: optional(Type.String()),
          lang: optional(Type.String({ description: 'Without it the first language that the key has.' })),
          position: optional(Type.Integer({ description: 'From 1; 0 or below: behind the organic results.' })),
        },
        { title: 'PinInput' },
      ),
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
    pins: Type.Array(Type.Object({ key: Type.String(), lang: Type.Optional(Type.String()), position: Type.Integer() }, { title: 'Pin' })),
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
  http: { routes: [{ method: 'GET', path: '/v1/curation' }] },
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
  http: { routes: [{ method: 'POST', path: '/v1/curation' }] },
  input: Type.Object({ collection, ...ruleFields }),
  output: Rule,
  audit: 'write./v1/curation',
})

export const replaceCuration = operation({
  ...inCollection,
  ...changed,
  name: 'replaceCuration',
  description: 'Replaces a curation rule; id, collection and `createdAt` stay',
  http: { routes: [{ method: 'PUT', path: '/v1/curation' }] },
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
  http: { routes: [{ method: 'DELETE', path: '/v1/curation' }] },
  input: Type.Object({ id: ruleIdOf, collection: anyCollection }),
  output: shape('Done.', { status: Type.String({ examples: ['deleted'] }), id: Type.String() }),
  errors: ['notFound'],
  audit: 'write./v1/curation',
})

export const curationOperations = [listCuration, addCuration, replaceCuration, deleteCuration] as const
