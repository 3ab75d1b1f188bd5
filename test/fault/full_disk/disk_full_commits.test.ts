/**
 * Commits that the disk refuses although there seemed to be space, or cuts short while it is full: they are
 * undone, or the process is replaced at once. A preloaded shim refuses the writes.
 */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { SmallDisk } from '../../harness/process/small_disk.js'
import { Random } from '../../harness/random.js'
import { type Server, startServer, type TestResponse } from '../../harness/server/server.js'
import { FaultControl } from '../shim/fault_control.js'
import { document, isStatus, REFUSED, startOnDisk, until, untilReserved, wordsOf } from './full_disk.js'
import { refuseMetaPage } from './refused_meta_page.js'

describe('a commit that the disk refuses', () => {
  const setUp = async (): Promise<{ readonly directory: string; readonly control: FaultControl; readonly remove: () => Promise<void> }> => {
    const scratch = await mkdtemp(join(tmpdir(), 'mds-no-space-'))
    const control = new FaultControl(join(scratch, 'control'))
    // The shim watches this directory from its start, so it must exist.
    await mkdir(join(scratch, 'db'))
    return { directory: join(scratch, 'db'), control, remove: () => rm(scratch, { recursive: true, force: true }) }
  }

  it('disk full: a commit refused with ENOSPC is undone, the process goes on refusing writes, and then takes them', async () => {
    const { directory, control, remove } = await setUp()
    const server = await startServer({ directory, env: control.environment(directory) })
    assert.equal((await server.post('/v1/add', document('first'))).status, 200)
    for (const kind of ['write', 'flush'] as const) {
      control.arm({ kind, at: 1, error: 'ENOSPC', manner: 'clean', lasts: true, only: 'truth.mdb' })
      const refused = await server.post('/v1/add', document(kind))
      assert.deepEqual([refused.status, refused.text.slice(0, 100)], [503, REFUSED], kind)
      assert.ok(control.state().hits > 0)
      assert.equal((await server.post('/v1/get', document('first'))).status, 200)
      assert.equal((await server.post('/v1/get', document(kind))).status, 404, 'nothing of a refused write is there')
      control.disarm()
      await until(() => server.post('/v1/add', document(kind)), isStatus(200))
      assert.equal((await server.post('/v1/get', document(kind))).status, 200)
    }
    assert.equal((await server.post('/v1/fts', { collection: 'full', query: 'text' })).json<{ total: number }>().total, 3)
    assert.equal(await server.stop(), 0, server.output())
    await remove()
  })

  it('disk full: pages that a refused commit has written behind the last page are cut off', async () => {
    const { directory, control, remove } = await setUp()
    const server = await startServer({ directory, env: control.environment(directory) })
    assert.equal((await server.post('/v1/add', document('first'))).status, 200)
    const truth = join(directory, 'gen-000001', 'truth.mdb')
    const large = { ...document('large'), contentMd: wordsOf(new Random(7), 4 << 20) }
    const before = (await stat(truth)).size
    // The last write before the meta page, which contains the large body.
    control.arm({ kind: 'write', at: 3, error: 'ENOSPC', manner: 'torn', lasts: true, only: 'truth.mdb' })
    assert.equal((await server.post('/v1/add', large)).text, REFUSED)
    assert.match(control.state().hit, /writev/)
    assert.equal((await stat(truth)).size, before)
    control.disarm()
    await until(() => server.post('/v1/add', document('first')), isStatus(200))
    assert.equal((await server.post('/v1/add', large)).status, 200)
    assert.equal((await server.post('/v1/get', document('large'))).json().contentMd, large.contentMd)
    assert.equal(await server.stop(), 0, server.output())
    await remove()
  })

  it('disk full: a commit that can not be undone replaces the child at once, which serves reads, refuses writes and is counted', async (t) => {
    const { directory, control, remove } = await setUp()
    const probe = await startServer({ directory })
    assert.equal((await probe.post('/v1/add', document('first'))).status, 200)
    await probe.stop()
    const env = control.environment(directory)
    const server = await startServer({ directory, env, supervisor: true, address: probe.address })
    t.after(() => server.kill())
    const add = (): Promise<TestResponse> => server.post('/v1/add', document('meta'))
    await refuseMetaPage(
      control,
      () => add().catch(() => undefined),
      () => until(add, isStatus(200)),
    )
    await until(() => server.post('/v1/get', document('first')), isStatus(200))
    assert.match(server.output(), /supervisor: the server ended \(SIGKILL\); starting it again at once/)
    control.disarm()
    await until(() => server.post('/v1/add', document('again')), isStatus(200))
    const child = Number((await readFile(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8')).trim().split(' ')[0])
    assert.match(await readFile(`/proc/${child}/environ`, 'utf8'), /MDS_RESTARTS=1\0/)
    assert.equal(await server.stop(), 0, server.output())
    await remove()
  })
})

describe('a commit that a full disk cuts short', () => {
  // Each refused deletion takes one, as often as a busy machine asks.
  const DOCUMENTS = 1_000
  const FLOOR_BYTES = 4 << 20

  /** A server whose disk is full. The next document is deleted by `deleteNext`. */
  const setUp = async (
    test: TestContext,
    supervisor: boolean,
  ): Promise<
    { disk: SmallDisk; server: Server; control: FaultControl; deleted: Set<string>; deleteNext: () => Promise<TestResponse> } | undefined
  > => {
    const scratch = await mkdtemp(join(tmpdir(), 'mds-cut-short-'))
    test.after(() => rm(scratch, { recursive: true, force: true }))
    const control = new FaultControl(join(scratch, 'control'))
    test.after(() => control.close())
    const mounted = await startOnDisk(test, 64, (path) => ({
      supervisor,
      address: `unix:${join(scratch, 'socket')}`,
      env: control.environment(path),
    }))
    if (mounted === undefined) return undefined
    const { disk, server } = mounted
    const documents = Array.from({ length: DOCUMENTS }, (_, i) => document(`k${i}`))
    assert.equal((await server.post('/v1/add-batch', { collection: 'full', documents })).status, 200)
    await untilReserved(disk, FLOOR_BYTES)
    disk.fill(0)
    await until(() => server.post('/v1/add', document('new')), isStatus(503))
    const deleted = new Set<string>()
    // A document whose deletion is refused is kept, and not asked for again.
    const keys = documents.map(({ key }) => key as string)
    const deleteNext = async (): Promise<TestResponse> => {
      const key = keys.pop() as string
      const answer = await server.post('/v1/delete', { collection: 'full', key, lang: 'en' })
      if (answer.status === 200) deleted.add(key)
      else assert.deepEqual([answer.status, answer.text], [503, REFUSED])
      return answer
    }
    return { disk, server, control, deleted, deleteNext }
  }

  /** Whether exactly those documents are gone that were deleted, in the store and in the index. */
  const assertNothingLost = async (server: Server, deleted: ReadonlySet<string>, added: number): Promise<void> => {
    for (let i = 0; i < DOCUMENTS; i++) {
      const { status } = await server.post('/v1/get', document(`k${i}`))
      assert.equal(status, deleted.has(`k${i}`) ? 404 : 200, `k${i}`)
    }
    const { total } = (await server.post('/v1/fts', { collection: 'full', query: 'text', limit: DOCUMENTS })).json<{ total: number }>()
    assert.equal(total, DOCUMENTS - deleted.size + added)
  }

  it('disk full: a commit of which a page is cut short is undone like one refused with ENOSPC, and the process stays', async (test) => {
    const mounted = await setUp(test, false)
    if (mounted === undefined) return
    const { disk, server, control, deleted, deleteNext } = mounted
    control.arm({ kind: 'write', at: 1, error: 'ENOSPC', manner: 'short', lasts: false, only: 'truth.mdb' })
    // The first is cut short, which LMDB reports as EIO; the shim refuses the write after it with ENOSPC.
    for (let hits = 0; hits < 2; hits = control.state().hits) {
      await deleteNext()
      assert.equal((await server.post('/v1/get', document('k1'))).status, 200)
    }
    control.disarm()
    assert.match(server.output(), /a commit was refused with an I\/O error while little is free/)
    await until(deleteNext, isStatus(200))
    assert.equal((await server.post('/v1/add', document('new'))).text, REFUSED)
    await assertNothingLost(server, deleted, 0)
    disk.empty()
    await until(() => server.post('/v1/add', document('new')), isStatus(200))
    assert.doesNotMatch(server.output(), /fatal/)
    assert.equal(await server.stop(), 0, server.output())
    const next = await startServer({ directory: join(disk.path, 'db') })
    test.after(() => next.kill())
    await assertNothingLost(next, deleted, 1)
    assert.equal(await next.stop(), 0, next.output())
  })

  it('disk full: a commit whose meta page is cut short replaces the child at once, and nothing acknowledged is lost', async (test) => {
    const mounted = await setUp(test, true)
    if (mounted === undefined) return
    const { disk, server, control, deleted, deleteNext } = mounted
    await refuseMetaPage(
      control,
      () => deleteNext().catch(() => undefined),
      () => until(deleteNext, isStatus(200)),
      'short',
    )
    await until(() => server.post('/v1/get', document('k1')), isStatus(200))
    assert.match(server.output(), /supervisor: the server ended \(SIGKILL\); starting it again at once/)
    assert.equal((await server.post('/v1/add', document('new'))).text, REFUSED)
    control.disarm()
    await until(deleteNext, isStatus(200))
    await assertNothingLost(server, deleted, 0)
    disk.empty()
    await until(() => server.post('/v1/add', document('new')), isStatus(200))
    await assertNothingLost(server, deleted, 1)
    assert.equal(await server.stop(), 0, server.output())
  })
})
