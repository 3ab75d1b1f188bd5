/** What the thread of GraphQL keeps: documents by their text, within bounds. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { buildSchema } from 'graphql'
import { Documents, GRAPHQL_DOCUMENTS_KEPT_MAX, TextCache } from '../../../src/surface/graphql/documents.js'
import { SCHEMA } from '../../../src/surface/graphql/schema.js'

it('text cache: keeps what was used last, within its entries and its characters', () => {
  const cache = new TextCache<number>({ entriesMax: 3, charsMax: 10, textCharsMax: 6 })
  for (const [at, text] of ['a', 'b', 'c'].entries()) cache.set(text, at)
  assert.equal(cache.get('a'), 0)
  cache.set('d', 3)
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((text) => cache.get(text)),
    [0, undefined, 2, 3],
  )
  cache.set('eeeeee', 4)
  cache.set('ffff', 5)
  assert.deepEqual([cache.get('eeeeee'), cache.get('ffff'), cache.size], [4, 5, 2])
  cache.set('ggggggg', 6)
  assert.equal(cache.get('ggggggg'), undefined)
  // The same text again takes no further characters.
  for (let round = 0; round < 5; round++) cache.set('ffff', round)
  assert.deepEqual([cache.get('eeeeee'), cache.get('ffff')], [4, 4])
})

it('graphql documents: a document is parsed and validated once, and as many as the bound are kept', () => {
  const documents = new Documents(buildSchema(SCHEMA), false)
  const first = documents.get('{ __typename }')
  assert.ok('document' in first)
  assert.equal(documents.get('{ __typename }'), first)
  for (let at = 0; at < GRAPHQL_DOCUMENTS_KEPT_MAX; at++) documents.get(`{ a${at}: __typename }`)
  assert.notEqual(documents.get('{ __typename }'), first)
  const last = `{ a${GRAPHQL_DOCUMENTS_KEPT_MAX - 1}: __typename }`
  assert.equal(documents.get(last), documents.get(last))
})
