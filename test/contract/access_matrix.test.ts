/**
 * The matrix of authorisation, generated from the table of operations: each operation for each kind of
 * principal on its own collection, on another one, on both, and on none. Over HTTP by two event loops, and
 * over the port of another surface. What must come out is said by a model of its own (`isPermitted`).
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { operations } from '../../src/operations/index.js'
import type { Operation } from '../../src/operations/operation.js'
import { ACCESS_ENV, Admin, asUser, keyOf, type Headers } from '../harness/access.js'
import { isPermitted, OTHER, OWN, situationsOf, type Asker, type Situation } from '../harness/authorisation_model.js'
import { clientsOfLoops, LOOP_LOG, type LoopClient } from '../harness/loop_clients.js'
import { Client, SURFACE_EDITS, surfaceEnv } from '../harness/msgpack_surface/client.js'
import { scratchCopy, type ScratchCopy } from '../harness/scratch_copy.js'
import { startServer, type Server } from '../harness/server.js'
import { untilHolds } from '../harness/until.js'

const EVERYTHING_ON = {
  ...ACCESS_ENV,
  SVC_PPROF_ENABLED: 'true',
  SVC_SPELL: 'true',
  SVC_TEMPORAL: 'true',
  SVC_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
}

/** Of every document, and of all metadata, of the other collection. */
const CANARY = /foreigncanary|zanzibarcanary/

const REFUSALS = new Set([
  'missing authentication', 'invalid token', 'invalid api key', 'authentication required', 'forbidden', 'admin access required',
]) // prettier-ignore

let copy: ScratchCopy
let server: Server
let admin: Admin
let port: Client
let askers: readonly Asker[]
/** One for each event loop. */
let loops: readonly LoopClient[]
const folder = mkdtempSync(join(tmpdir(), 'mds-matrix-'))

before(async () => {
  copy = await scratchCopy(SURFACE_EDITS)
  server = await startServer({ main: copy.main, env: { ...EVERYTHING_ON, ...LOOP_LOG, ...surfaceEnv(join(folder, 'socket')) } })
  admin = new Admin(server)
  loops = await clientsOfLoops(server, 2)
  port = new Client(join(folder, 'socket'))
  for (const name of ['nothing', 'reader', 'writer', 'chief', 'grouped', 'disabled', 'foreign', 'revoked']) await admin.register(name)
  await admin.do('POST', '/v1/auth/groups', { name: 'readers', members: ['grouped'] })
  const expiresAt = Math.ceil(Date.now() / 1000) + 1
  const expired = await keyOf(server, 'reader', expiresAt)
  const key = await keyOf(server, 'reader')
  const foreign = await keyOf(server, 'foreign')
  const keyOfDisabled = await keyOf(server, 'disabled')
  await admin.do('PUT', '/v1/auth/users/disabled', { disabled: true })
  await untilHolds(
    () => Date.now() >= expiresAt * 1000,
    () => 'the end of the key',
  )
  askers = [
    { name: 'without credentials', rights: 'nobody', headers: {} },
    { name: 'an expired key', rights: 'nobody', headers: { 'x-api-key': expired }, byKey: true },
    { name: 'a disabled user', rights: 'nobody', headers: asUser('disabled') },
    { name: 'an API key of a disabled user', rights: 'nobody', headers: { 'x-api-key': keyOfDisabled }, byKey: true },
    { name: 'a user without rights', rights: 'nothing', user: 'nothing', headers: asUser('nothing') },
    { name: 'a reader', rights: 'read', user: 'reader', headers: asUser('reader') },
    { name: 'a reader by API key', rights: 'read', user: 'reader', headers: { 'x-api-key': key }, byKey: true },
    { name: 'a reader by its group', rights: 'read', user: 'grouped', headers: asUser('grouped') },
    { name: 'a user whose right was just taken away', rights: 'nothing', user: 'revoked', headers: asUser('revoked'), isRevoked: true },
    { name: 'a writer', rights: 'write', user: 'writer', headers: asUser('writer') },
    { name: 'an administrator of the collection', rights: 'admin', user: 'chief', headers: asUser('chief') },
    {
      name: "another user's key",
      rights: 'nothing',
      rightsElsewhere: 'admin',
      user: 'foreign',
      headers: { 'x-api-key': foreign },
      byKey: true,
    },
    { name: 'the administrator of the server', rights: 'everything', user: 'admin', headers: asUser('admin') },
  ]
})
after(async () => {
  port.end()
  for (const client of loops) client.close()
  await server.kill()
  copy.remove()
  rmSync(folder, { recursive: true, force: true })
})

/** False after an operation that may have deleted anything. */
let isFilled = false

/** The state that every operation finds. At once, so that the commits are few. */
async function fill(): Promise<void> {
  if (isFilled) return
  const document = { key: 'hello-world', lang: 'en' }
  const meta = { category: ['zanzibarcanary'], zanzibarcanary: ['x'] }
  // A schema would refuse the documents.
  await Promise.all([OWN, OTHER].map((collection) => admin.do('POST', '/v1/schema/delete', { collection })))
  await Promise.all([
    admin.do('POST', '/v1/add', { ...document, collection: OWN, contentMd: 'a word', meta: { category: ['tutorial'] } }),
    admin.do('POST', '/v1/add', { ...document, collection: OTHER, contentMd: 'a word zanzibarcanary', meta }),
    admin.grant('reader', OWN, { read: true }),
    admin.grant('writer', OWN, { write: true }),
    admin.grant('chief', OWN, { admin: true }),
    admin.grant('foreign', OTHER, { admin: true }),
    admin.grantGroup('readers', OWN, { read: true }),
  ])
  isFilled = true
}

/** On both event loops, which keep what they find out about the credential. */
async function revoke({ user = '', headers }: Asker): Promise<void> {
  await admin.grant(user, '*', { admin: true })
  for (const loop of loops) assert.equal((await loop.ask('GET', '/v1/stats', undefined, headers)).status, 200)
  await admin.grant(user, '*', {})
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

let requests = 0

/** By the event loops in turn. */
async function overHttp({ http }: Operation, input: Situation['input'], headers: Headers): Promise<readonly string[]> {
  const texts: string[] = []
  for (const { method, path } of http?.routes ?? []) {
    const target = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(textOf(input[name])))
    const query = new URLSearchParams(Object.entries(input).map(([name, value]): [string, string] => [name, textOf(value)]))
    const client = loops[++requests % loops.length]!
    const isInQuery = method === 'GET'
    const answer = await client.ask(method, isInQuery ? `${target}?${query.toString()}` : target, isInQuery ? undefined : input, headers)
    texts.push(answer.text)
  }
  return texts
}

function isRefused(text: string): boolean {
  try {
    const { error } = JSON.parse(text) as { readonly error?: string }
    return error !== undefined && REFUSALS.has(error)
  } catch {
    return false
  }
}

describe('the matrix of authorisation', () => {
  it('access: each operation, for each kind of principal, on its own, another, several and no collection: no wrong cell', async () => {
    let cells = 0
    const wrong: string[] = []
    for (const row of operations) {
      for (const situation of situationsOf(row)) {
        for (const asker of askers) {
          const wanted = isPermitted(row, asker, situation.names)
          const writes = row.effect === 'write' && wanted
          await fill()
          if (asker.isRevoked === true) await revoke(asker)
          const texts = await overHttp(row, situation.input, asker.headers)
          isFilled &&= !writes
          for (const text of texts) {
            cells++
            const cell = `${row.name} of ${situation.name} by ${asker.name} over HTTP`
            if (isRefused(text) === wanted) wrong.push(`${cell}: ${text.slice(0, 100)}`)
            const mayShow = asker.rights === 'everything' || asker.rightsElsewhere !== undefined || situation.names.includes(OTHER)
            if (!mayShow && CANARY.test(text)) wrong.push(`${cell} shows the canary: ${text.slice(0, 200)}`)
          }
          // Tokens and keys are checked by surfaces; a port names the user.
          if (asker.byKey === true || row.permission === 'public' || row.needsLogin === true) continue
          await fill()
          const { code } = await port.ask(row.name, situation.input, undefined, asker.user)
          isFilled &&= !writes
          cells++
          const isDenied =
            code === 'forbidden' ||
            code === 'adminRequired' ||
            code === 'missingAuthentication' ||
            code === 'invalidToken' ||
            code === 'missingFields'
          if (isDenied === wanted) wrong.push(`${row.name} of ${situation.name} by ${asker.name} over a port: ${code}`)
        }
      }
    }
    assert.ok(cells > 3_000, `${cells} cells`)
    assert.deepEqual(wrong, [])
  })

  it('access: a change holds from the next request on, on a port', async () => {
    await fill()
    await admin.register('changing')
    const get = { collection: OWN, key: 'hello-world', lang: 'en' }
    const code = async (): Promise<string | null> => (await port.ask('get', get, undefined, 'changing')).code
    for (let round = 0; round < 20; round++) {
      await admin.grant('changing', OWN, { read: true })
      assert.equal(await code(), null)
      await admin.grant('changing', OWN, {})
      assert.equal(await code(), 'forbidden')
    }
    await admin.do('DELETE', '/v1/auth/users/changing')
    assert.equal(await code(), 'invalidToken')
  })
})
