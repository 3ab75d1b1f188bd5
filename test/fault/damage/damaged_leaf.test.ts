/**
 * A leaf of the truth env whose damage kills any process that reads it. A start does not read leaves
 * (docs/decisions/store/disks.md), so the server ends at the first request that does. The following start
 * reads all leaves and is refused in one line, which prevents a crash loop;
 * `mds doctor` names the leaf.
 */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { checkTruth } from '../../../src/engine/search/native_engine.js'
import { openEnvironment } from '../../../src/store/environment.js'
import { documentKey } from '../../../src/store/rows/keys.js'
import { View } from '../../../src/store/view.js'
import { spawn } from '../../harness/process/owned_processes.js'
import type { Server } from '../../harness/server/server.js'
import { startServer } from '../../harness/server/server.js'
import { damageLeaf } from '../../harness/store/damaged_leaf.js'

const MDS = fileURLToPath(new URL('../../../../bin/mds.mjs', import.meta.url))
const DOCUMENTS = 40
const ASKED = { collection: 'kept', key: 'doc-7', lang: 'en' }
const TRUTH = join('gen-000001', 'truth.mdb')

describe('a damaged leaf', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'mds-leaf-'))
  const whole = join(scratch, 'whole')
  const damaged = join(scratch, 'damaged')
  before(async () => {
    const server = await startServer({ directory: whole })
    for (let i = 0; i < DOCUMENTS; i++) {
      const reply = await server.post('/v1/add', { ...ASKED, key: `doc-${i}`, contentMd: `# ${i}\n${'walrus '.repeat(200 + i)}` })
      assert.equal(reply.status, 200, reply.text)
    }
    assert.equal(await server.stop(), 0)
    cpSync(whole, damaged, { recursive: true })
    const environment = openEnvironment(join(whole, 'gen-000001'))
    const { collection, docid } = new View(environment, 0).find(1, ASKED.key, ASKED.lang) ?? assert.fail('no document')
    const key = documentKey(collection, docid)
    const stored = environment.heads.storedValue(key) ?? assert.fail('no head')
    await environment.root.close()
    damageLeaf(join(damaged, TRUTH), key, stored)
  })
  after(() => rmSync(scratch, { recursive: true, force: true }))

  it('damaged leaf: the check of a start does not see it, the one with leaves does, and finds nothing in a store that is whole', () => {
    assert.equal(checkTruth(join(damaged, TRUTH)), true)
    assert.throws(() => checkTruth(join(damaged, TRUTH), true), /^Error: truth\.mdb: a node outside of its page, page \d+$/u)
    assert.equal(checkTruth(join(whole, TRUTH), true), true)
  })

  it('damaged leaf: it ends the server, whose next start reads every page and is refused in one line', async () => {
    const server = await startServer({ directory: damaged, supervisor: true })
    try {
      const before = server.output()
      await assert.rejects(server.post('/v1/get', ASKED))
      // Without the check of every page the server would become ready again, and end again.
      while (!/^can't start.*\n/mu.test(server.output()) && !server.output().slice(before.length).includes('ready on'))
        await new Promise((resolve) => setImmediate(resolve))
      const printed = server.output().slice(before.length).trim().split('\n')
      const lines = printed.filter((line) => !line.startsWith('listening on '))
      assert.match(lines.shift() as string, /supervisor: the server ended \(SIGBUS\); starting it again in 1 s$/u)
      assert.match(lines.shift() as string, /checking every page before opening: .*signal=SIGBUS$/u)
      assert.equal(lines.length, 1, server.output())
      assert.match(
        lines[0] as string,
        /^can't start: .*gen-000001 is damaged: truth\.mdb: a node outside of its page, page \d+; to go back to a backup, .*mds restore NAME/u,
      )
      assert.equal(await server.ended, 2, server.output())
    } finally {
      await server.kill()
    }
  })

  it('damaged leaf: an undamaged store is served again after such a signal, and after SIGKILL no page is checked', async () => {
    const probe = await startServer()
    const { address } = probe
    await probe.stop()
    const server = await startServer({ directory: whole, address, supervisor: true })
    try {
      for (const [starts, signal] of [
        [2, 'SIGSEGV'],
        [3, 'SIGKILL'],
      ] as const) {
        process.kill(await childPid(server), signal)
        while ((server.output().match(/^ready on/gmu)?.length ?? 0) < starts)
          await server.get('/health').catch(() => new Promise((resolve) => setImmediate(resolve)))
        assert.equal((await server.post('/v1/get', ASKED)).status, 200)
      }
      assert.equal(server.output().match(/checking every page before opening/gu)?.length, 1, server.output())
    } finally {
      assert.equal(await server.stop(), 0)
    }
  })

  it('damaged leaf: the child of mds doctor that it ends is a finding, with exit code 1, and the store is not changed', async () => {
    const bytes = readFileSync(join(damaged, TRUTH))
    const child = spawn(process.execPath, [MDS, 'doctor', '--db', damaged])
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
    assert.equal(code, 1, output)
    assert.match(
      output,
      /^damaged: the process that read the store was ended by it \(SIGBUS, at table heads\): truth\.mdb: a node outside of its page, page \d+\n$/u,
    )
    assert.ok(readFileSync(join(damaged, TRUTH)).equals(bytes))
  })
})

async function childPid(server: Server): Promise<number> {
  const children = await readFile(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8')
  return Number(children.trim().split(' ')[0])
}
