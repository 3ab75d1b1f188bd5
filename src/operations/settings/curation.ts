/** Rows of curation rules. Pure data; rules in src/domain/settings/curation.ts. */
import { DEADLINE_SEARCH_MS } from '../../limits/lanes.js'
import { Type } from '../row/json_schema.js'
import { collection, operation, optional, shape, text, unixSeconds, wholeNumber, word } from '../row/schema.js'
import { asked, changed, inCollection } from './settings_common.js'

const ruleFields = {
  query: text('Query to which the rule applies.', 'getting started'),
  matchMode: optional(word(['exact', 'contains'], 'Whether a search query must equal `query` or contain it; case-insensitive.', 'exact')),
  enabled: optional(Type.Boolean({ description: 'Whether the rule applies.', default: false })),
  pins: optional(
    Type.Array(
      Type.Object(
        {
          key: optional(Type.String()),
          lang: optional(Type.String({ description: 'Default: the first language in which the key exists.' })),
          position: optional(Type.Integer({ description: 'Position from 1; 0 or below: after the organic results.' })),
        },
        { title: 'PinInput' },
      ),
      { description: 'Pinned documents and their positions.', examples: [[{ key: 'intro', position: 1 }]] },
    ),
  ),
  hides: optional(Type.Array(Type.String(), { description: 'Keys of documents to exclude, in every language.' })),
}
const ruleIdOf = text('Id of the rule.', 'cur_5f0c7d3a9b1e2f4c6d8a0b1200000001')
const itsCollection = Type.Optional(
  Type.String({ description: 'Collection of the rule. It cannot be moved to another one.', examples: ['blog'] }),
)
const Rule = Type.Object(
  {
    id: Type.String(),
    collection: Type.String(),
    query: Type.String(),
    matchMode: Type.String(),
    enabled: Type.Boolean(),
    pins: Type.Array(Type.Object({ key: Type.String(), lang: Type.Optional(Type.String()), position: Type.Integer() }, { title: 'Pin' })),
    hides: Type.Array(Type.String()),
    createdAt: unixSeconds('When the rule was created.'),
    updatedAt: unixSeconds('When the rule was last replaced.'),
  },
  { title: 'CurationRule' },
)

export const listCuration = operation({
  ...inCollection,
  ...asked,
  name: 'listCuration',
  client: 'curation.list',
  boundedBy: ['CURATION_DOCUMENTS_MAX'],
  protocols: { grpc: 'ListCurationRules', graphql: null, mcp: 'list_curation_rules' },
  description: 'Lists curation rules: one by its id, those of a collection, or all',
  cost: 'search',
  deadlineMs: DEADLINE_SEARCH_MS,
  http: { routes: [{ method: 'GET', path: '/v1/curation' }] },
  input: Type.Object({
    collection: Type.Optional(Type.String({ description: 'Only rules of this collection. Default: all.', examples: ['blog'] })),
    id: Type.Optional(Type.String({ description: 'Id of a rule. The response is then the rule itself.' })),
  }),
  output: shape('Rules in order of creation; with `id`, the rule itself.', {
    rules: Type.Optional(Type.Array(Rule)),
    total: Type.Optional(wholeNumber('Number of rules.')),
    collection: Type.Optional(Type.String({ description: '`collection` of the request; empty for all collections.' })),
  }),
  errors: ['notFound'],
})

export const addCuration = operation({
  ...inCollection,
  ...changed,
  name: 'addCuration',
  client: 'curation.add',
  boundedBy: ['CURATION_DOCUMENTS_MAX'],
  protocols: { grpc: 'CreateCurationRule', graphql: null, mcp: 'create_curation_rule' },
  description: 'Creates a curation rule: for a query, documents pinned to positions of the results, and documents excluded',
  http: { routes: [{ method: 'POST', path: '/v1/curation' }] },
  input: Type.Object({ collection, ...ruleFields }),
  output: Rule,
  audit: 'write./v1/curation',
})

export const replaceCuration = operation({
  ...inCollection,
  ...changed,
  name: 'replaceCuration',
  client: 'curation.replace',
  isIdempotent: true,
  boundedBy: ['CURATION_DOCUMENTS_MAX'],
  protocols: { grpc: 'UpdateCurationRule', graphql: null, mcp: 'update_curation_rule' },
  description: 'Replaces a curation rule; id, collection and `createdAt` are kept',
  http: { routes: [{ method: 'PUT', path: '/v1/curation' }] },
  input: Type.Object({ id: ruleIdOf, collection: itsCollection, ...ruleFields }),
  output: Rule,
  errors: ['notFound'],
  audit: 'write./v1/curation',
})

export const deleteCuration = operation({
  ...inCollection,
  ...changed,
  name: 'deleteCuration',
  client: 'curation.delete',
  boundedBy: ['CURATION_DOCUMENTS_MAX'],
  protocols: { grpc: 'DeleteCurationRule', graphql: null, mcp: 'delete_curation_rule' },
  description: 'Deletes a curation rule',
  http: { routes: [{ method: 'DELETE', path: '/v1/curation' }] },
  input: Type.Object({ id: ruleIdOf, collection: itsCollection }),
  output: shape('Done.', { status: Type.String({ examples: ['deleted'] }), id: Type.String() }),
  errors: ['notFound'],
  audit: 'write./v1/curation',
})

export const curationOperations = [listCuration, addCuration, replaceCuration, deleteCuration] as const
