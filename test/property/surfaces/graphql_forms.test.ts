/**
 * A query that differs from an earlier one in its strings alone is not parsed: its answer, errors and their
 * places are those that it gets from a server that has never seen another one.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { buildSchema, execute, type ExecutionResult, GraphQLError, type GraphQLField } from 'graphql'
import { Documents } from '../../../src/surface/graphql/documents.js'
import { installScalars } from '../../../src/surface/graphql/scalars.js'
import { SCHEMA } from '../../../src/surface/graphql/schema.js'
import { DocumentSource } from '../../harness/graphql_documents.js'
import { Random, runSeed } from '../../harness/random.js'

const BASES = 1_500
const VARIANTS = 6
const STRING = /"(?:[^"\\\n\r]|\\.)*"/g
const LITERALS = [
  ...['""', '"a"', '"b"', '"a longer one, with: {punctuation} and $v"', '"#no comment"', '"é 漢 😀"', '"\t\u0000"', '"Query"'],
  ...[
    '"2030-01-01T00:00:00Z"',
    '"\\u0041\\n"',
    '"\\""',
    '"""block\n  text"""',
    '"\ud800"',
    '"\\q"',
    '"a\nb"',
    '1',
    'x',
    'null',
    '"a" #c\n',
  ],
]
const PLAIN = LITERALS.slice(0, 8)

const schema = buildSchema(SCHEMA)
installScalars(schema)
const fields = [schema.getQueryType()!, schema.getMutationType()!].flatMap((type) => Object.values(type.getFields()))
// What a field was given is told by its answer or by its error, at once or later.
for (const field of fields as GraphQLField<unknown, undefined, object>[])
  field.resolve = (_, args) => {
    const told = JSON.stringify(args)
    if (told.length % 3 === 0) throw new GraphQLError(told)
    if (told.length % 3 === 1) return Promise.reject(new GraphQLError(told))
    return { id: told, key: told, lang: told }
  }

/** Queries that are mostly valid. */
function queryOf(random: Random): string {
  const gap = (): string => random.pick([' ', '\n', '\n  ', ', '])
  const selections = Array.from({ length: 1 + random.below(3) }, (_, at) => {
    const alias = random.below(3) === 0 ? '' : `a${at}:${gap()}`
    return random.pick([
      `${alias}document(collection: "",${gap()}key: "", lang: "")${gap()}{ id key ${random.below(3) === 0 ? 'addedAt' : ''} }`,
      `${alias}document(collection: $a, key: "", lang: "", env: {x: "", y: [""]}) { id }`,
      `${alias}search(input: {collection: "",${gap()}filterMeta: [{key: "", values: ["", ""]}], limit: 3}) { totalCount }`,
      `${alias}schema(collection: "") { collection }`,
      `${alias}schema(collection: "") @include(if: true) { schema }`,
      `${alias}__type(name: "") { name }`,
      `${alias}groupPermissions(groupName: "") { collection }`,
    ])
  })
  const body = `{${gap()}${selections.join(gap())} }`
  if (random.below(8) === 0) return 'mutation { a: deleteCollection(collection: "") b: deleteCollection(collection: "") }'
  return body.includes('$a') ? `query A($a: String! = "")${body}` : body
}

const run = async (documents: Documents, text: string): Promise<unknown> => {
  const ready = documents.get(text)
  if (!('document' in ready)) return ready.map((error) => error.toJSON())
  // The documents may be asked for another one before the answer is there.
  const executed = execute({ schema, document: ready.document, variableValues: { v: 'x' } })
  documents.get(text.replaceAll(STRING, '"other"'))
  const { data, errors = [] }: ExecutionResult = await executed
  return JSON.parse(JSON.stringify({ data, errors: errors.map((error) => ready.placed?.(error) ?? error) }))
}

it('graphql documents: a query with other strings than an earlier one is answered as if it were the first', async () => {
  const seed = runSeed()
  const random = new Random(seed)
  const source = new DocumentSource(schema, random)
  const kept = new Documents(schema, false)
  let answered = 0
  let reused = 0
  for (let count = 0; count < BASES; count++) {
    const base = random.below(3) === 0 ? source.next() : queryOf(random)
    for (let variant = 0; variant < VARIANTS; variant++) {
      const pool = random.below(3) === 0 ? LITERALS : PLAIN
      const text = base.replaceAll(STRING, () => random.pick(pool))
      const wanted = await run(new Documents(schema, false), text)
      assert.deepEqual(await run(kept, text), wanted, `seed ${seed}: ${text}`)
      if (Array.isArray(wanted)) continue
      answered += 1
      const ready = kept.get(text)
      if ('document' in ready && ready.placed !== undefined) reused += 1
    }
  }
  assert.ok(answered > BASES, `seed ${seed}: ${answered} answered`)
  assert.ok(reused > answered / 4, `seed ${seed}: ${reused} of ${answered} not parsed`)
})
