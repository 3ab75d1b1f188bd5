/**
 * Authorisation is checked for every operation on every path. Tested with servers whose check always denies:
 * no operation may then return any other answer, over HTTP or another surface, on the loop, in a lane, or
 * from the cache.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { operations } from '../../../src/operations/index.js'
import { exampleInput } from '../../../src/surface/http/pages/openapi.js'
import { Client, SURFACE_EDITS, surfaceEnv } from '../../harness/msgpack_surface/client.js'
import { httpRequestOf } from '../../harness/protocols/http_request.js'
import { type Edit, scratchCopy } from '../../harness/scratch_copy.js'
import { ACCESS_ENV, asUser } from '../../harness/server/access.js'
import { startServer } from '../../harness/server/server.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-authorization-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const FORBIDDEN = '{"error":"forbidden"}'
/** Credentials are not looked at where they change nothing. */
const MISSING = '{"error":"missing authentication"}'
const ADMIN_REQUIRED = '{"error":"admin access required"}'
const EVERYTHING_ON = {
  ...ACCESS_ENV,
  SVC_SPELL: 'true',
  SVC_TEMPORAL: 'true',
  SVC_PPROF_ENABLED: 'true',
  SVC_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
}

/** The check denies where `condition` holds. */
function refusing(condition: string): Edit {
  const question = '  if (!isAllowed(operation, principal, collections)) throw'
  return {
    file: 'src/access/authorize.ts',
    find: question,
    replace: question.replace('!isAllowed(operation, principal, collections)', condition),
  }
}

it('authorization: asked for every operation, on the loop and in the lanes, whichever surface brings it', async () => {
  const path = join(folder, 'socket')
  const copy = await scratchCopy([...SURFACE_EDITS, refusing('!isInternal(operation)')])
  const server = await startServer({ main: copy.main, env: { ...EVERYTHING_ON, ...surfaceEnv(path) } })
  const client = new Client(path)
  try {
    const headers = asUser('admin')
    for (const row of operations) {
      const input = exampleInput(row.input)
      const isOfServer = row.permission === 'admin' && row.collections.kind === 'server'
      const refused = isOfServer ? ADMIN_REQUIRED : FORBIDDEN
      const overPort = await client.ask(row.name, input, undefined, 'admin')
      const code = isOfServer ? 'adminRequired' : 'forbidden'
      assert.deepEqual([overPort.code, Buffer.from(overPort.body).toString()], [code, refused], row.name)
      for (const [index, { method, path: route }] of (row.http?.routes ?? []).entries()) {
        const asked = await httpRequestOf(row, input, index)
        const answer = await server.request(asked.method, asked.path, asked.body, { ...asked.headers, ...headers })
        const isLookedAt = row.permission !== 'public' || row.knowsCaller === true
        const wanted = isLookedAt ? [403, refused] : [401, MISSING]
        assert.deepEqual([answer.status, answer.text], wanted, `${method} ${route}`)
      }
    }
  } finally {
    client.end()
    await server.stop()
    copy.remove()
  }
})

it('authorization: asked before a cached answer is given, whether its request or its operation has it cached', async () => {
  const copy = await scratchCopy([refusing("path === 'cached'")])
  const server = await startServer({ main: copy.main })
  try {
    await server.post('/v1/add', { collection: 'c', key: 'k', lang: 'en', contentMd: 'word', meta: {} })
    const cached = [
      () => server.post('/v1/fts', { collection: 'c', query: 'word', cacheTtl: 60 }),
      () => server.get('/v1/fts?collection=c&q=word&cacheTtl=60'),
      () => server.get('/v1/autocomplete?collection=c&prefix=wo&q=wo&query=wo'),
    ]
    for (const ask of cached) {
      assert.equal((await ask()).status, 200)
      const again = await ask()
      assert.deepEqual([again.status, again.text], [403, FORBIDDEN])
    }
  } finally {
    await server.stop()
    copy.remove()
  }
})
