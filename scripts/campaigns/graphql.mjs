/**
 * `npm run campaign -- graphql [seconds]`: sends generated GraphQL documents to a real server, most of them
 * damaged, with variables of all kinds, for the given number of seconds. Each is answered 200 or 400 with
 * JSON, never by a fault of the server; the process lives, and its memory stays within a bound. Needs a build
 * with tests. Prints the seed; `MDS_TEST_SEED=n` repeats a run.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { buildSchema } from 'graphql'
import { SCHEMA } from '../../dist/src/surface/graphql/schema.js'
import { DocumentSource } from '../../dist/test/harness/graphql_documents.js'
import { Random, runSeed } from '../../dist/test/harness/random.js'
import { startServer } from '../../dist/test/harness/server/server.js'

const seconds = Number(process.argv[2] ?? 600)
const CLIENTS = 16
const MEMORY_MB_MAX = 1200
const seed = runSeed()
const random = new Random(seed)
const source = new DocumentSource(buildSchema(SCHEMA), random)
const counts = { 200: 0, 400: 0, 503: 0 }
console.log(JSON.stringify({ seed, seconds }))

const VALUES = ['x', '', 0, -1, 1.5, 1e308, true, null, [], [[]], {}, { a: { b: [1] } }, '2030-01-01T00:00:00Z', '\u0000', '\ud800']

function bodyOf() {
  switch (random.below(20)) {
    case 0:
      return random.pick([
        '',
        '{',
        '[]',
        'null',
        '5',
        '"x"',
        '[{"query":"{__typename}"}]',
        '{"query":5}',
        '{"query":"{__typename}","variables":[]}',
      ])
    case 1: {
      const bytes = Buffer.from(JSON.stringify({ query: source.next() }))
      bytes[random.below(bytes.length)] = random.below(256)
      return bytes
    }
    default:
      return JSON.stringify({
        query: source.next(),
        variables: { v: random.pick(VALUES) },
        operationName: random.pick([null, 'A', 'B1', '']),
      })
  }
}

const server = await startServer()
const end = performance.now() + seconds * 1000
async function client() {
  while (performance.now() < end) {
    const body = bodyOf()
    const answer = await server.post('/graphql', body)
    assert.ok(answer.status in counts, `seed ${seed}: ${answer.status} to ${body}`)
    counts[answer.status] += 1
    assert.doesNotMatch(answer.text, /INTERNAL_SERVER_ERROR/, `seed ${seed}: ${body}`)
    const { data, errors } = JSON.parse(answer.text)
    if (answer.status === 400) assert.ok(data === undefined && errors.length > 0, `seed ${seed}: ${answer.text}`)
  }
}
try {
  await Promise.all(Array.from({ length: CLIENTS }, client))
  const memory = Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]) / 1024
  console.log(JSON.stringify({ ...counts, memoryMb: Math.round(memory) }))
  assert.ok(memory < MEMORY_MB_MAX, `${memory} MB`)
  assert.ok(counts[200] > 0 && counts[503] === 0)
} finally {
  await server.stop()
}
