/**
 * What is kept of GraphQL documents changes no verdict: documents that are nearly the same, one after the
 * other, get the errors that each gets alone; none takes long, and none throws.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type ASTNode, buildSchema, GraphQLError, print, visit } from 'graphql'
import { formOf } from '../../../src/surface/graphql/document_form.js'
import { Documents, type ReadyDocument } from '../../../src/surface/graphql/documents.js'
import { installScalars } from '../../../src/surface/graphql/scalars.js'
import { SCHEMA } from '../../../src/surface/graphql/schema.js'
import { DocumentSource } from '../../harness/graphql_documents.js'
import { Random, runSeed } from '../../harness/random.js'

const DOCUMENTS = 3_000
/** A document is a few KB; validation of one takes some milliseconds. */
const MS_MAX = 2_000
const schema = buildSchema(SCHEMA)
installScalars(schema)

const verdictOf = (read: ReturnType<Documents['get']>): readonly string[] => ('document' in read ? [] : read.map(({ message }) => message))

/** Where errors of its fields and arguments are told to be. */
function placesOf({ document, placed = (error) => error }: ReadyDocument): readonly unknown[] {
  const places: unknown[] = []
  const take = (node: ASTNode): void => void places.push(placed(new GraphQLError('x', { nodes: node })).locations)
  visit(document, { Field: take, Argument: take, StringValue: take })
  return places
}

it('graphql documents: what is kept of earlier ones changes no verdict', () => {
  const seed = runSeed()
  const source = new DocumentSource(schema, new Random(seed))
  const random = new Random(seed + 1)
  const kept = new Documents(schema, false)
  let valid = 0
  let filled = 0
  for (let count = 0; count < DOCUMENTS; count++) {
    const made = source.next()
    const text = random.below(2) === 0 ? made : formOf(made).replaceAll('""', '"a"')
    const begun = performance.now()
    const warm = verdictOf(kept.get(text))
    assert.ok(performance.now() - begun < MS_MAX, `seed ${seed}: ${text}`)
    assert.deepEqual(warm, verdictOf(new Documents(schema, false).get(text)), `seed ${seed}: ${text}`)
    if (warm.length > 0) continue
    valid += 1
    // The same form with other strings, each of its own.
    const other = text.replaceAll(/"a"|""/g, () => `"${'Z'.repeat(random.below(20))}"`)
    if (formOf(other) !== formOf(text)) continue
    const again = kept.get(other)
    const alone = new Documents(schema, false).get(other)
    assert.deepEqual(verdictOf(again), verdictOf(alone), other)
    if (!('document' in again) || !('document' in alone)) continue
    assert.equal(print(again.document), print(alone.document), `seed ${seed}: ${text}\n${other}`)
    assert.equal(again.asksForSchema, alone.asksForSchema)
    assert.deepEqual(placesOf(again), placesOf(alone), `seed ${seed}: ${text}\n${other}`)
    filled += again.placed === undefined ? 0 : 1
  }
  assert.ok(filled > 20, `seed ${seed}: ${filled} documents from kept trees`)
  assert.ok(valid > DOCUMENTS / 50, `seed ${seed}: ${valid} valid documents`)
})

it('graphql documents: the form of a text has its strings emptied and its comments removed', () => {
  assert.equal(formOf('{ a(b: "x\\"y", c: """u "v" \\""" w""") } # "z\n{ d }'), '{ a(b: "", c: "") } \n{ d }')
  assert.notEqual(formOf('{ a(b: 1) }'), formOf('{ a(b: 2) }'))
})
