/**
 * What is kept of GraphQL documents changes no verdict: documents that are nearly the same, one after the
 * other, get the errors that each gets alone; none takes long, and none throws.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { buildSchema } from 'graphql'
import { Documents, formOf } from '../../src/surface/graphql/documents.js'
import { installScalars } from '../../src/surface/graphql/scalars.js'
import { SCHEMA } from '../../src/surface/graphql/schema.js'
import { DocumentSource } from '../harness/graphql_documents.js'
import { Random, runSeed } from '../harness/random.js'

const DOCUMENTS = 3_000
/** A document is a few KB; validation of one takes some milliseconds. */
const MS_MAX = 2_000
const schema = buildSchema(SCHEMA)
installScalars(schema)

const verdictOf = (read: ReturnType<Documents['get']>): readonly string[] => ('document' in read ? [] : read.map(({ message }) => message))

it('graphql documents: what is kept of earlier ones changes no verdict', () => {
  const seed = runSeed()
  const source = new DocumentSource(schema, new Random(seed))
  const kept = new Documents(schema, false)
  let valid = 0
  for (let count = 0; count < DOCUMENTS; count++) {
    const text = source.next()
    const begun = performance.now()
    const warm = verdictOf(kept.get(text))
    assert.ok(performance.now() - begun < MS_MAX, `seed ${seed}: ${text}`)
    assert.deepEqual(warm, verdictOf(new Documents(schema, false).get(text)), `seed ${seed}: ${text}`)
    if (warm.length > 0) continue
    valid += 1
    // The same form with other strings.
    const other = text.replaceAll('"a"', '"Z"').replaceAll('""', '"Y"')
    if (formOf(other) === formOf(text))
      assert.deepEqual(verdictOf(kept.get(other)), verdictOf(new Documents(schema, false).get(other)), other)
  }
  assert.ok(valid > DOCUMENTS / 50, `seed ${seed}: ${valid} valid documents`)
})

it('graphql documents: the form of a text has its strings emptied and its comments removed', () => {
  assert.equal(formOf('{ a(b: "x\\"y", c: """u "v" \\""" w""") } # "z\n{ d }'), '{ a(b: "", c: "") } \n{ d }')
  assert.notEqual(formOf('{ a(b: 1) }'), formOf('{ a(b: 2) }'))
})
