/** The process that prepares a restored store, when its server ends beside it: it must not write any more. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { childrenOf, hasEnded } from '../../harness/process/children.js'
import { untilHolds } from '../../harness/process/until.js'
import { type Server, startServer } from '../../harness/server/server.js'

/** Its index takes some hundred times as long to build as the process takes to stop. */
const DOCUMENTS = 2000
const directory = mkdtempSync(join(tmpdir(), 'mds-preparation-'))
let server: Server

before(async () => {
  server = await startServer({ directory })
  const documents = Array.from({ length: DOCUMENTS }, (_, at) => ({ key: `k${at}`, lang: 'en', contentMd: `page ${at} `.repeat(100) }))
  for (let at = 0; at < DOCUMENTS; at += 500)
    assert.equal((await server.post('/v1/add-batch', { collection: 'c', documents: documents.slice(at, at + 500) })).status, 200)
  assert.equal((await server.get('/v1/backup?to=b')).status, 200)
})
after(async () => {
  await server.stop()
  rmSync(directory, { recursive: true, force: true })
})

it('restore: the preparation ends with its server within whatever step it is, and the next start leaves nothing of it', async () => {
  const restored = server.post('/v1/restore', { from: 'b' }).catch(() => null)
  // It has opened the copy, and is told nothing more by its server: a stopped process sees no event.
  await untilHolds(
    () => existsSync(join(directory, 'gen-000002', 'truth.mdb-lock')),
    () => readdirSync(directory).join(),
  )
  const [preparation, ...others] = childrenOf(server.pid, 'restore_preparation')
  assert.ok(preparation !== undefined && others.length === 0, 'no preparation')
  process.kill(preparation, 'SIGSTOP')
  await server.kill()
  await restored
  try {
    await untilHolds(
      () => hasEnded(preparation),
      () => 'the preparation is still there',
    )
  } finally {
    if (!hasEnded(preparation)) process.kill(preparation, 'SIGKILL')
  }
  server = await startServer({ directory })
  assert.deepEqual(
    readdirSync(directory).filter((name) => name.startsWith('gen-')),
    ['gen-000001'],
  )
  assert.equal((await server.post('/v1/restore', { from: 'b' })).status, 200)
})
