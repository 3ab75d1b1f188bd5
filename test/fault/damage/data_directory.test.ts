/**
 * Starts over an incomplete or damaged data directory. Whatever is missing, truncated or changed, the start
 * either serves everything that was stored, or is refused in one line that names the finding and the remedy,
 * with the exit code that tells the supervisor not to retry. Nothing is removed.
 * docs/decisions/store/disks.md.
 */
import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { checkTruth } from '../../../src/engine/search/native_engine.js'
import { openEnvironment } from '../../../src/store/environment.js'
import { runToEnd, startServer } from '../../harness/server/server.js'

const COLLECTION = 'kept'
const DOCUMENTS = 30
const META_PAGES = 2
const META_BYTES = 24 + 144
const PAGE_BYTES = 4096

describe('a data directory that is not whole', () => {
  const scratch = mkdtempSync(path.join(tmpdir(), 'mds-directory-'))
  const whole = path.join(scratch, 'whole')
  before(async () => {
    const server = await startServer({ directory: whole })
    for (let i = 0; i < DOCUMENTS; i++) {
      const reply = await server.post('/v1/add', { collection: COLLECTION, key: `doc-${i}`, lang: 'en', contentMd: contentOf(i) })
      assert.equal(reply.status, 200, reply.text)
    }
    assert.equal((await server.get('/v1/backup?to=good.db')).status, 200)
    await server.stop()
  })
  after(() => rmSync(scratch, { recursive: true, force: true }))

  let copies = 0
  const copied = (change: (directory: string) => void): string => {
    const directory = path.join(scratch, `copy-${copies++}`)
    cpSync(whole, directory, { recursive: true })
    change(directory)
    return directory
  }
  /**
   * Runs under the supervisor, as in production.
   * @returns the line
   */
  const refused = async (directory: string): Promise<string> => {
    const { code, output } = await runToEnd({ directory, supervisor: true })
    assert.equal(code, 2, output)
    const lines = output
      .trim()
      .split('\n')
      .filter((line) => !line.startsWith('listening on '))
    assert.equal(lines.length, 1, output)
    assert.match(lines[0] as string, /^can't start: /u)
    return lines[0] as string
  }
  const servesAll = async (directory: string): Promise<void> => {
    const server = await startServer({ directory })
    try {
      for (let i = 0; i < DOCUMENTS; i++) {
        const reply = await server.post('/v1/get', { collection: COLLECTION, key: `doc-${i}`, lang: 'en' })
        assert.equal(reply.json<{ contentMd: string }>().contentMd, contentOf(i))
      }
      const found = await server.post('/v1/fts', { collection: COLLECTION, query: 'walrus', limit: 100 })
      assert.equal(found.json<{ total: number }>().total, DOCUMENTS)
    } finally {
      await server.stop()
    }
  }

  it('directory: without CURRENT the generations that are there are named, and none is removed', async () => {
    const directory = copied((at) => {
      rmSync(path.join(at, 'CURRENT'))
      cpSync(path.join(at, 'gen-000001'), path.join(at, 'gen-000003'), { recursive: true })
    })
    const line = await refused(directory)
    assert.match(
      line,
      /CURRENT is missing, but gen-000001 \(truth\.mdb of \d+ bytes, written [\dT:.Z-]+\) and gen-000003 \(.*\) are there/u,
    )
    assert.ok(existsSync(path.join(directory, 'gen-000001', 'truth.mdb')) && existsSync(path.join(directory, 'gen-000003', 'truth.mdb')))
    writeFileSync(path.join(directory, 'CURRENT'), 'gen-000003')
    await servesAll(directory)
  })

  it('directory: a first start that was ended before it had written anything is begun again', async () => {
    const directory = path.join(scratch, 'begun')
    mkdirSync(path.join(directory, 'gen-000001', 'index'), { recursive: true })
    const server = await startServer({ directory })
    await server.stop()
    assert.equal(readFileSync(path.join(directory, 'CURRENT'), 'utf8'), 'gen-000001\n')
  })

  it('directory: missing folders that derive from the truth env are created again', async () => {
    await servesAll(copied((at) => rmSync(path.join(at, 'gen-000001', 'index'), { recursive: true })))
    await servesAll(copied((at) => rmSync(path.join(at, 'gen-000001', 'vectors'), { recursive: true, force: true })))
  })

  it('directory: a CURRENT that names nothing or a missing generation is refused with a list of the existing ones', async () => {
    for (const text of ['', '../gen-000001', '\0'.repeat(11)]) {
      const line = await refused(copied((at) => writeFileSync(path.join(at, 'CURRENT'), text)))
      assert.match(line, /CURRENT does not name a generation: gen-000001 \(truth\.mdb of \d+ bytes/u, JSON.stringify(text))
    }
    const line = await refused(copied((at) => writeFileSync(path.join(at, 'CURRENT'), 'gen-000007\n')))
    assert.match(line, /CURRENT names gen-000007, which is not there; gen-000001 \(truth\.mdb of \d+ bytes.* is there; .*mds restore NAME/u)
    const folder = copied((at) => {
      rmSync(path.join(at, 'CURRENT'))
      mkdirSync(path.join(at, 'CURRENT'))
    })
    assert.match(await refused(folder), /CURRENT can't be read/u)
  })

  it('directory: a truth.mdb that is missing, empty or no file beside an index is refused; what the line says brings the backup back', async () => {
    const truth = path.join('gen-000001', 'truth.mdb')
    const directory = copied((at) => rmSync(path.join(at, truth)))
    assert.match(await refused(directory), /truth\.mdb is missing, and what was made from it is there; .*mds restore NAME/u)
    assert.match(await refused(copied((at) => truncateSync(path.join(at, truth)))), /truth\.mdb is empty, and what/u)
    const folder = copied((at) => {
      rmSync(path.join(at, truth))
      mkdirSync(path.join(at, truth))
    })
    assert.match(await refused(folder), /truth\.mdb is no file/u)

    const aside = mkdtempSync(path.join(scratch, 'aside-'))
    for (const name of ['CURRENT', 'gen-000001']) renameSync(path.join(directory, name), path.join(aside, name))
    const server = await startServer({ directory })
    assert.equal((await server.post('/v1/restore', { from: 'good.db' })).text, '{"restored":"good.db"}')
    await server.stop()
    await servesAll(directory)
  })

  it('directory: a truth.mdb that was cut is refused, at whatever length', async () => {
    const truth = path.join('gen-000001', 'truth.mdb')
    const bytes = readFileSync(path.join(whole, truth))
    const pages = bytes.length / PAGE_BYTES
    const cut = path.join(scratch, 'cut.mdb')
    for (let length = 1; length < (pages - 12) * PAGE_BYTES; length += 1500) {
      writeFileSync(cut, bytes.subarray(0, length))
      assert.throws(() => checkTruth(cut), /^Error: truth\.mdb: /u, String(length))
    }
    for (const length of [100, Math.floor(pages / 2) * PAGE_BYTES]) {
      const line = await refused(copied((at) => truncateSync(path.join(at, truth), length)))
      assert.match(line, /gen-000001 is damaged: truth\.mdb: .*; to go back to a backup, .*mds restore NAME/u, String(length))
    }
  })

  it('directory: a store of another format is refused in one line that says what to do', async () => {
    const directory = copied(() => undefined)
    const { root, settings } = openEnvironment(path.join(directory, 'gen-000001'))
    root.transactionSync(() => settings.put(Buffer.from('format'), Buffer.from([3, 1])))
    await root.close()
    const remedy = 'export its collections with the version that wrote it, and import them here'
    assert.ok((await refused(directory)).includes(`truth.mdb has format 3; this version reads format 4 only: ${remedy}`))
  })

  it('directory: damaged meta pages are refused in one line', async () => {
    const truth = path.join('gen-000001', 'truth.mdb')
    const bytes = readFileSync(path.join(whole, truth))
    const newer = bytes.readBigUInt64LE(24 + 128) > bytes.readBigUInt64LE(PAGE_BYTES + 24 + 128) ? 0 : PAGE_BYTES
    const damages: readonly ((at: Buffer) => void)[] = [
      (at) => at.fill(0, 0, PAGE_BYTES),
      (at) => at.fill(0, PAGE_BYTES, 2 * PAGE_BYTES),
      (at) => at.fill(0xff, 0, 2 * PAGE_BYTES),
      // The roots of the free list and of the tables, far behind the end of the file.
      (at) => at.writeBigUInt64LE(1n << 40n, newer + 24 + 64),
      (at) => at.writeBigUInt64LE(1n << 40n, newer + 24 + 112),
      // The number of the last page.
      (at) => at.writeBigUInt64LE(1n << 50n, newer + 24 + 120),
      // The page size.
      (at) => at.writeUInt32LE(0, newer + 24 + 24),
    ]
    for (const [index, damage] of damages.entries()) {
      const changed = Buffer.from(bytes)
      damage(changed)
      const file = path.join(scratch, 'damaged.mdb')
      writeFileSync(file, changed)
      assert.throws(() => checkTruth(file), /^Error: truth\.mdb: /u, String(index))
      if (index % 3 !== 0) continue
      const line = await refused(copied((at) => writeFileSync(path.join(at, truth), changed)))
      assert.match(line, /gen-000001 is damaged: truth\.mdb: .*; to go back to a backup/u, String(index))
    }
  })

  it('directory: each flipped bit of the meta pages is found or changes nothing', async () => {
    const truth = path.join(whole, 'gen-000001', 'truth.mdb')
    const good = readFileSync(truth)
    assert.equal(checkTruth(truth), true)
    const flipped = path.join(scratch, 'flipped.mdb')
    const unseen: number[] = []
    for (let page = 0; page < META_PAGES; page++)
      for (let at = page * PAGE_BYTES; at < page * PAGE_BYTES + META_BYTES; at++)
        for (let bit = 0; bit < 8; bit++) {
          const changed = Buffer.from(good)
          changed[at]! ^= 1 << bit
          writeFileSync(flipped, changed)
          try {
            checkTruth(flipped)
            unseen.push(at * 8 + bit)
          } catch (error) {
            assert.match((error as Error).message, /^truth\.mdb: /u)
          }
        }
    // Many flips at once: a flip that matters alone matters among others, too. The fields that show whether
    // the machine has rebooted are tested separately, because together they form another state.
    const isOfBoot = (at: number): boolean => (at >> 3) % PAGE_BYTES >= 24 + 136
    // A newest transaction number reduced by two is what LMDB leaves after a full disk has refused a meta
    // page. The start then uses the previous state (decision 0155).
    const isOfTransaction = (at: number): boolean => (at >> 3) % PAGE_BYTES >= 24 + 128 && !isOfBoot(at)
    for (const at of unseen.filter(isOfTransaction)) {
      const changed = Buffer.from(good)
      changed[at >> 3]! ^= 1 << (at & 7)
      await servesAll(copied((directory) => writeFileSync(path.join(directory, 'gen-000001', 'truth.mdb'), changed)))
    }
    for (const some of [unseen.filter(isOfBoot), unseen.filter((at) => !isOfBoot(at) && !isOfTransaction(at))]) {
      assert.ok(some.length > 0)
      const changed = Buffer.from(good)
      for (const at of some) changed[at >> 3]! ^= 1 << (at & 7)
      await servesAll(copied((at) => writeFileSync(path.join(at, 'gen-000001', 'truth.mdb'), changed)))
    }
  })

  it('directory: an older truth.mdb that replaced a newer one is reported in the log and in health until a restore', async () => {
    const truth = path.join('gen-000001', 'truth.mdb')
    const older = path.join(scratch, 'older.mdb')
    const directory = copied((at) => cpSync(path.join(at, truth), older))
    const newer = await startServer({ directory })
    assert.equal((await newer.post('/v1/add', { collection: COLLECTION, key: 'late', lang: 'en', contentMd: contentOf(0) })).status, 200)
    await newer.stop()
    cpSync(older, path.join(directory, truth))
    const server = await startServer({ directory })
    const warnings = async (): Promise<readonly string[]> => {
      const { persistence } = (await server.get('/health')).json<{ persistence: { warnings: { code: string }[] } }>()
      return persistence.warnings.map(({ code }) => code).filter((code) => code === 'writes_lost')
    }
    try {
      assert.deepEqual(await warnings(), ['writes_lost'])
      assert.match(server.output(), /writes are lost.*truth\.mdb is in an older state than its index; to go back to a backup/u)
      const found = await server.post('/v1/fts', { collection: COLLECTION, query: 'walrus', limit: 100 })
      assert.equal(found.json<{ total: number }>().total, DOCUMENTS)
      assert.equal((await server.post('/v1/restore', { from: 'good.db' })).status, 200)
      assert.deepEqual(await warnings(), [])
    } finally {
      await server.stop()
    }
  })

  it('directory: something else under the name of a file or folder of the directory is refused in one line, or served around', async () => {
    const replace = (name: string, kind: 'file' | 'folder' | 'garbage') => (at: string) => {
      rmSync(path.join(at, name), { recursive: true, force: true })
      if (kind === 'folder') mkdirSync(path.join(at, name))
      else writeFileSync(path.join(at, name), kind === 'file' ? '' : Buffer.alloc(9000, 0xa5))
    }
    for (const [name, kind] of [
      ['LOCK', 'folder'],
      ['backups', 'file'],
      ['gen-000001/index', 'file'],
      ['gen-000001/truth.mdb-lock', 'folder'],
    ] as const) {
      const line = await refused(copied(replace(name, kind)))
      assert.ok(line.includes(name.split('/').at(-1) as string), `${name}: ${line}`)
    }
    for (const [name, kind] of [
      ['LOCK', 'garbage'],
      ['gen-000001/vectors', 'file'],
      ['gen-000001/truth.mdb-lock', 'garbage'],
      ['gen-000001/truth.mdb-lock', 'file'],
      ['gen-000001/index/segments.mdb', 'garbage'],
      ['gen-000001/index/segments.mdb', 'folder'],
      ['gen-000001/index/segments.mdb-lock', 'folder'],
      ['secrets.key', 'garbage'],
      ['instance', 'garbage'],
    ] as const)
      await servesAll(copied(replace(name, kind)))
  })

  it('directory: a path under which the system takes no folder is refused at once', async () => {
    for (const directory of ['/proc/x/y', '/dev/null/x']) {
      const { code, output } = await runToEnd({ directory, supervisor: true })
      assert.equal(code, 2, output)
      assert.match(output, new RegExp(`^can't start: ${directory} can't be used as data directory: E[A-Z]+\\n$`, 'u'))
    }
  })
})

function contentOf(i: number): string {
  return `# Document ${i}\n\n${'walrus '.repeat(200 + i)}\n`
}
