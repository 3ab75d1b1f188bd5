/**
 * A store on a read-only file system (a real one: a tmpfs, which requires the privilege to mount). `--mode
 * read` serves all of it, however the last process ended, and writes nothing. service-1, "Access modes".
 * docs/decisions/store/disks.md.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { programPath } from '../../../src/base/installation.js'
import { embeddingEnv } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer } from '../../harness/embedding/embedding_server.js'
import { SmallDisk } from '../../harness/process/small_disk.js'
import { runToEnd, type Server, startServer } from '../../harness/server/server.js'

const COLLECTION = 'kept'
const DOCUMENTS = 40
const DISK_MB = 64
const MAIN = programPath('main')
/** A user who owns nothing. */
const NOBODY = 65534

describe('a store on a read-only file system', () => {
  const scratch = mkdtempSync(path.join(tmpdir(), 'mds-read-only-'))
  const closed = path.join(scratch, 'closed')
  const killed = path.join(scratch, 'killed')
  let provider: EmbeddingServer
  let disk: SmallDisk | undefined
  let copies = 0

  before(async () => {
    provider = await EmbeddingServer.start()
    const server = await startServer({ directory: closed, env: embeddingEnv(provider) })
    await write(server, 0, DOCUMENTS)
    await server.post('/v1/synonyms', { collection: COLLECTION, term: 'tusker', synonyms: ['walrus'] })
    for (let embedded = 0; embedded < DOCUMENTS;) {
      const found = await server.post('/v1/vector-search', { collection: COLLECTION, query: 'walrus', topK: 100, threshold: -1 })
      embedded = found.json<{ results: unknown[] }>().results.length
    }
    await server.stop()
    cpSync(closed, killed, { recursive: true })
    const again = await startServer({ directory: killed })
    await write(again, DOCUMENTS, DOCUMENTS + 10)
    await again.kill()
    disk = SmallDisk.mount(DISK_MB)
  })
  after(async () => {
    await provider.stop()
    disk?.unmount()
    rmSync(scratch, { recursive: true, force: true })
  })

  /**
   * @returns the directory of a read-only copy; undefined if this user may not mount, and the test is then
   *   skipped
   */
  const locked = (t: TestContext, from: string, change: (directory: string) => void = () => undefined): string | undefined => {
    if (disk === undefined) {
      t.skip('NOT PROVED HERE: no right to mount a file system')
      return undefined
    }
    const directory = path.join(disk.path, `copy-${copies++}`)
    disk.makeReadOnly(false)
    cpSync(from, directory, { recursive: true })
    change(directory)
    disk.makeReadOnly(true)
    return directory
  }
  const reading = (directory: string): Promise<Server> =>
    startServer({ directory, env: embeddingEnv(provider), args: ['--mode', 'read', '--temporal'] })

  const servesAll = async (server: Server, documents: number): Promise<void> => {
    for (let i = 0; i < documents; i++) {
      const reply = await server.post('/v1/get', { collection: COLLECTION, key: `doc-${i}`, lang: 'en' })
      assert.equal(reply.json<{ contentMd: string }>().contentMd, contentOf(i), reply.text)
    }
    for (const query of ['walrus', 'tusker']) {
      const found = await server.post('/v1/fts', { collection: COLLECTION, query, limit: 100 })
      assert.equal(found.json<{ total: number }>().total, documents, query)
    }
    const listed = await server.post('/v1/search', { collection: COLLECTION, filterMeta: { parity: ['0'] }, limit: 100 })
    assert.equal(listed.json<unknown[]>().length, documents / 2)
  }

  it('read-only: a store that was closed well is served: documents, searches by words, metadata and vectors, exports; writes get 403', async (t) => {
    const directory = locked(t, closed)
    if (directory === undefined) return
    const server = await reading(directory)
    try {
      await servesAll(server, DOCUMENTS)
      const near = await server.post('/v1/vector-search', { collection: COLLECTION, query: 'walrus', topK: 100, threshold: -1 })
      assert.equal(near.json<{ results: unknown[] }>().results.length, DOCUMENTS)
      for (const format of ['ndjson', 'zip'])
        assert.equal((await server.post('/v1/export', { collection: COLLECTION, format })).status, 200, format)
      assert.equal((await server.get('/v1/stats')).json<{ totalDocuments: number }>().totalDocuments, DOCUMENTS)
      const health = await server.get('/health')
      assert.equal(health.status, 200, health.text)
      assert.equal(health.json<{ persistence: { writable: boolean } }>().persistence.writable, false)
      assert.equal((await server.post('/v1/add', { collection: COLLECTION, key: 'x', lang: 'en', contentMd: 'x' })).status, 403)
      assert.equal((await server.get('/v1/backup')).status, 500, 'backups lie in the directory')
      assert.doesNotMatch(server.output(), /index: /u, 'the stored index is used')
      const beside = await reading(directory)
      await servesAll(beside, DOCUMENTS)
      assert.equal(await beside.stop(), 0)
    } finally {
      assert.equal(await server.stop(), 0)
    }
  })

  it('read-only: what only the binlog and no index has after a kill is found, in memory', async (t) => {
    const directory = locked(t, killed)
    if (directory === undefined) return
    const server = await reading(directory)
    await servesAll(server, DOCUMENTS + 10)
    assert.equal(await server.stop(), 0)
  })

  it('read-only: an index that is damaged or missing is built in memory', async (t) => {
    const segments = path.join('gen-000001', 'index', 'segments.mdb')
    for (const change of [
      (at: string) => writeFileSync(path.join(at, segments), Buffer.alloc(40_000, 0xa5)),
      (at: string) => rmSync(path.join(at, 'gen-000001', 'index'), { recursive: true }),
      (at: string) => damageMiddle(path.join(at, segments)),
    ]) {
      const directory = locked(t, closed, change)
      if (directory === undefined) return
      const server = await reading(directory)
      await servesAll(server, DOCUMENTS)
      assert.match(server.output(), /index: /u)
      assert.equal(await server.stop(), 0)
    }
  })

  it('read-only: a backup goes where it can be written', async (t) => {
    const directory = locked(t, closed)
    if (directory === undefined) return
    const backups = path.join(scratch, 'backups')
    const server = await startServer({ directory, args: ['--mode', 'read'], env: { SVC_BACKUP_DIR: backups } })
    assert.equal((await server.get('/v1/backup?to=of-read-only.db')).text, '{"backup":"of-read-only.db"}')
    await server.stop()
    const other = await startServer({ env: { SVC_BACKUP_DIR: backups } })
    assert.equal((await other.post('/v1/restore', { from: 'of-read-only.db' })).status, 200)
    await servesAll(other, DOCUMENTS)
    await other.stop()
  })

  it('read-only: another mode, an empty directory and a store that a power cut left unsettled are refused in one line', async (t) => {
    const directory = locked(t, closed)
    if (directory === undefined) return
    const refused = async (at: string, args: readonly string[]): Promise<string> => {
      const { code, output } = await runToEnd({ directory: at, supervisor: true, args })
      assert.equal(code, 2, output)
      const lines = output.split('\n').filter((line) => line !== '' && !line.includes('listening on'))
      assert.equal(lines.length, 1, output)
      return lines[0] as string
    }
    assert.match(await refused(directory, []), /can't be written \(EROFS\); --mode read \(SVC_MODE=read\) serves what is there/u)
    const empty = locked(t, closed, (at) => {
      rmSync(at, { recursive: true })
      mkdirSync(at)
    })
    assert.match(await refused(empty ?? '', ['--mode', 'read']), /holds no data directory, and none can be made there \(EROFS\)/u)
    const unsettled = locked(t, closed, (at) => unsettle(path.join(at, 'gen-000001', 'truth.mdb')))
    assert.match(await refused(unsettled ?? '', ['--mode', 'read']), /was not closed cleanly: .*start it once where it can be written/u)
  })

  it('read-only: a directory that this user may not write to is served with --mode read, and refused in one line otherwise', async (t) => {
    // A user who does not own the files cannot write to them; root always can.
    const uid = process.getuid?.() === 0 ? NOBODY : undefined
    if (uid !== undefined && !mayRead(uid)) {
      t.skip('NOT PROVED HERE: root may write everywhere, and nobody else may read the program')
      return
    }
    chmodSync(scratch, 0o755)
    const directory = path.join(scratch, 'forbidden')
    cpSync(closed, directory, { recursive: true })
    const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
    for (const entry of entries) chmodSync(path.join(entry.parentPath, entry.name), entry.isDirectory() ? 0o555 : 0o444)
    chmodSync(directory, 0o555)
    const as = { directory, env: embeddingEnv(provider), ...(uid === undefined ? {} : { uid }) }
    try {
      const { code, output } = await runToEnd({ ...as, supervisor: true })
      assert.equal(code, 2, output)
      assert.match(output, /can't be written \(EACCES\); --mode read \(SVC_MODE=read\) serves what is there\n$/u)
      const server = await startServer({ ...as, args: ['--mode', 'read'] })
      await servesAll(server, DOCUMENTS)
      assert.equal((await server.post('/v1/add', { collection: COLLECTION, key: 'x', lang: 'en', contentMd: 'x' })).status, 403)
      assert.equal(await server.stop(), 0)
    } finally {
      for (const entry of entries.filter((found) => found.isDirectory())) chmodSync(path.join(entry.parentPath, entry.name), 0o755)
      chmodSync(directory, 0o755)
    }
  })
})

/** Whether the user can start the program. */
function mayRead(uid: number): boolean {
  return spawnSync(process.execPath, [MAIN, '--version'], { uid, gid: uid }).status === 0
}

async function write(server: Server, from: number, to: number): Promise<void> {
  for (let i = from; i < to; i++) {
    const document = { collection: COLLECTION, key: `doc-${i}`, lang: 'en', contentMd: contentOf(i), meta: { parity: [String(i % 2)] } }
    const reply = await server.post('/v1/add', document)
    assert.equal(reply.status, 200, reply.text)
  }
}

function contentOf(i: number): string {
  return `# Document ${i}\n\nThe walrus number ${i} rests. ${'Ice and water. '.repeat(40)}\n`
}

/** Flips a byte in the chunks of segments, which fill most of the file. */
function damageMiddle(file: string): void {
  const bytes = readFileSync(file)
  const at = bytes.indexOf('walrus')
  assert.ok(at > 0)
  const opened = openSync(file, 'r+')
  writeSync(opened, Buffer.from('seal'), 0, 4, at)
  closeSync(opened)
}

/**
 * Puts the newest meta page into the state after a power cut, in which its data need not have reached the
 * disk: written before the machine booted, and marked accordingly.
 */
function unsettle(file: string): void {
  const bytes = readFileSync(file)
  const at = bytes.readBigUInt64LE(24 + 128) > bytes.readBigUInt64LE(4096 + 24 + 128) ? 24 : 4096 + 24
  bytes.writeUInt16LE(bytes.readUInt16LE(at + 28) | 0x1000, at + 28)
  bytes.writeBigUInt64LE(bytes.readBigUInt64LE(at + 136) ^ 1n, at + 136)
  writeFileSync(file, bytes)
}
