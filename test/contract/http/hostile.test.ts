/**
 * Requests that are designed to be expensive: each is answered, and the server and its lanes continue. npm
 * run loadtest -- hostile measures their cost; the generators are shared.
 */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { HOSTILE_REQUESTS, type HostileRequest } from '../../harness/hostile_requests.js'
import { type Server, startServer, type TestResponse } from '../../harness/server/server.js'

let server: Server
before(async () => {
  server = await startServer()
})
after(() => server.stop())

function hostile(name: string): HostileRequest {
  const found = HOSTILE_REQUESTS.find((request) => request.name === name)
  assert.ok(found, name)
  return found
}

async function send(name: string, scale: number): Promise<TestResponse> {
  const { method = 'POST', path, body, prepare, answers, error } = hostile(name)
  await prepare?.(server, scale)
  const answer = await server.request(method, path, body(scale))
  assert.ok(answers.includes(answer.status), `${name}: ${answer.status} ${answer.text.slice(0, 300)}`)
  if (answer.status >= 400) assert.match(answer.json<{ error: string }>().error, error ?? /./, name)
  assert.doesNotMatch(server.output(), /lane died/, name)
  return answer
}

const errorOf = (answer: TestResponse): string => answer.json<{ error: string }>().error

it('hostile: unknown members are not built, in bodies and in items of batches', async () => {
  assert.equal((await send('add: three million members that nobody knows', 1)).json()['contentMd'], 'x')
  assert.deepEqual((await send('add-batch: items with members that nobody knows', 1)).json(), {
    added: 500,
    updated: 0,
    failed: 0,
    errors: [],
  })
  assert.equal((await send('search: a name of 30 MB', 0.1)).status, 200)
})

it('hostile: a body of more than 2 097 152 values is refused, one of exactly as many reaches its operation', async () => {
  assert.equal(errorOf(await send('vector-search: fifteen million numbers', 0.15)), 'JSON has more than 2097152 values')
  assert.match(errorOf(await send('add: as many values as a body may have, in two-byte text', 1)), /^invalid meta.a: 2097000 values/)
})

it('hostile: a body of more than 262 144 different members or orders of them is refused', async () => {
  const text = 'JSON has more than 262144 different members or orders of them'
  assert.equal(errorOf(await send('add: metadata of two million keys', 0.15)), text)
  assert.equal(errorOf(await send('add-batch: metadata in as many orders as there are items', 1)), text)
})

it('hostile: a template that would fill memory is 400 before it is built, whatever the others ask meanwhile', async () => {
  const answers = await Promise.all([
    send('get: a template whose answer would be 600 MB', 1),
    send('get: a template whose answer would be 600 MB', 1),
  ])
  for (const answer of answers) assert.match(errorOf(answer), /^answer too large: \d{9} bytes with what env puts in$/)
})

it('hostile: diffs of contents of 16 MiB in short lines, three at once, are answered and end no lane', async () => {
  const first = await send('diff: eight million short lines of one letter and of another', 1)
  const { path, body } = hostile('diff: eight million short lines of one letter and of another')
  const others = await Promise.all(Array.from({ length: 3 }, () => server.post(path, body(1))))
  for (const { status } of others) assert.ok(status === 200 || status === 503, `${status}: on a busy machine the deadline may pass`)
  for (const answer of [first, ...others.filter(({ status }) => status === 200)]) {
    const { added, removed, isMinimal, diff } = answer.json<{ added: number; removed: number; isMinimal: boolean; diff: string }>()
    assert.deepEqual({ added, removed, isMinimal }, { added: 8_300_000, removed: 8_300_000, isMinimal: false })
    assert.equal(diff.length, '--- revision 1\n+++ revision 2\n@@ -1,8300000 +1,8300000 @@\n'.length + 6 * 8_300_000)
  }
  assert.doesNotMatch(server.output(), /lane died/)
})
