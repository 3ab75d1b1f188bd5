/**
 * Writes that accept fewer bytes than given, as on a disk that is nearly full. The limit on the size of a
 * file (RLIMIT_FSIZE) has this effect to the exact byte: the write that crosses it is cut short and reported
 * as a success, and the next one is refused.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Server, startServer } from '../../harness/server/server.js'

const REFUSED = 'EFBIG'

/** The output of a process in which no file may grow beyond the given number of bytes. */
function bounded(bytes: number, script: string): string {
  const args = [`--fsize=${bytes}`, process.execPath, '--input-type=module', '-e', script]
  const { stdout, stderr, error } = spawnSync('prlimit', args, { encoding: 'utf8' })
  assert.equal(stderr, '', String(error))
  return stdout
}

const moduleOf = (name: string): string => JSON.stringify(new URL(`../../../src/store/${name}.js`, import.meta.url).href)

describe('a write that is cut short', () => {
  let directory: string
  before(() => (directory = mkdtempSync(join(tmpdir(), 'mds-short-'))))
  after(() => rmSync(directory, { recursive: true, force: true }))

  for (const [name, call] of [
    ['writeWhole', 'await writeWhole(file, bytes, at)'],
    ['writeWholeSync', 'writeWholeSync(file.fd, bytes, at)'],
  ] as const) {
    it(`short writes: ${name} writes all bytes, at the end or at an offset, or reports the error`, () => {
      const path = join(directory, name)
      const script = `
        import { open } from 'node:fs/promises'
        import { ${name} } from ${moduleOf('files/write_whole')}
        const file = await open(${JSON.stringify(path)}, 'w')
        const said = []
        for (const [length, at] of [[3000, null], [3000, null], [500, 10], [3000, 3000]]) {
          const bytes = new Uint8Array(length).fill(length === 500 ? 2 : 1)
          try { ${call}; said.push('written') } catch (error) { said.push(error.code) }
        }
        console.log(said.join(' '))`
      assert.equal(bounded(5000, script).trim(), `written ${REFUSED} written ${REFUSED}`)
      const bytes = readFileSync(path)
      assert.equal(bytes.length, 5000)
      assert.deepEqual([bytes[9], bytes[10], bytes[509], bytes[510]], [1, 2, 2, 1])
    })
  }

  it('short writes: a call that takes nothing is an error, not another round', () => {
    const script = `
      import { writeWhole } from ${moduleOf('files/write_whole')}
      let calls = 0
      const file = { write: async () => ({ bytesWritten: calls++ === 0 ? 3 : 0 }) }
      try { await writeWhole(file, new Uint8Array(10), 0) } catch (error) { console.log(calls, error.code) }`
    assert.equal(bounded(1 << 20, script).trim(), '2 ENOSPC')
  })

  it('short writes: a file that is made once is not there where it was cut, and nothing is left of it', () => {
    const script = `
      import { readOrMakeFile } from ${moduleOf('files/once_file')}
      try { console.log(readOrMakeFile(${JSON.stringify(directory)}, 'secrets.key', () => 'k'.repeat(64))) } catch (error) { console.log(error.code) }`
    assert.equal(bounded(40, script).trim(), REFUSED)
    assert.deepEqual(
      readdirSync(directory).filter((name) => name.startsWith('secrets.key')),
      [],
    )
    assert.equal(bounded(65, script).trim(), 'k'.repeat(64))
  })
})

describe('a backup that is cut short', () => {
  let server: Server
  before(async () => {
    server = await startServer()
    for (let i = 0; i < 20; i++) {
      const document = { collection: 'short', key: `k${i}`, lang: 'en', contentMd: `text ${i} `.repeat(800) }
      assert.equal((await server.post('/v1/add', document)).status, 200)
    }
    assert.equal((await server.get('/v1/backup?to=whole.db')).status, 200)
  })
  after(() => server.stop())
  const pathOf = (name: string): string => join(server.directory, 'backups', name)
  /**
   * Sets the limit of the server from now on. Writes of its store stay below it, because nothing is added.
   */
  const bound = (bytes: number | 'unlimited'): void => {
    execFileSync('prlimit', ['--pid', String(server.pid), `--fsize=${bytes}:`])
  }

  it('short writes: a backup whose seal is cut is refused with the reason, and is not there', async () => {
    bound(statSync(pathOf('whole.db')).size - 32)
    const answer = await server.get('/v1/backup?to=cut.db')
    bound('unlimited')
    assert.deepEqual([answer.status, answer.text], [500, `{"error":"backup failed: ${REFUSED}"}`])
    assert.equal(existsSync(pathOf('cut.db')), false)
  })

  it('short writes: a restore whose copy is cut is refused with the reason, and the served store stays', async () => {
    bound(statSync(pathOf('whole.db')).size - 64 - 100)
    const answer = await server.post('/v1/restore', { from: 'whole.db' })
    bound('unlimited')
    assert.deepEqual([answer.status, answer.text], [500, `{"error":"restore failed: backup whole.db is ${REFUSED}"}`])
    assert.equal((await server.post('/v1/get', { collection: 'short', key: 'k7', lang: 'en' })).status, 200)
    assert.equal((await server.post('/v1/restore', { from: 'whole.db' })).status, 200)
  })
})
