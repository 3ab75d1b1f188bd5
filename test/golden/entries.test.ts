/**
 * The golden data directory (test/golden/entries, made by test/harness/store/make_golden_entries.ts): all
 * kinds of entries, a sealed collection, revisions, settings, jobs, vectors, deleted documents. Its server
 * was killed, so a start replays. Every later version must read it.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { openEnvironment } from '../../src/store/environment.js'
import { currentGeneration } from '../../src/store/files/layout.js'
import { View } from '../../src/store/view.js'
import { EmbeddingServer } from '../harness/embedding/embedding_server.js'
import { startServer } from '../harness/server/server.js'
import { bothChecksums } from '../harness/store/checksums.js'
import {
  answersOf,
  goldenAnswers,
  goldenBinlog,
  goldenEntriesEnv,
  goldenEntriesKeyring,
  plainEntry,
  unpackGoldenEntries,
  untilEmbedded,
} from '../harness/store/golden_entries.js'

const KINDS = ['delete', 'drop', 'expiry', 'job', 'move', 'put', 'sealing', 'setting', 'shed', 'trim', 'vectors']
const folder = mkdtempSync(join(tmpdir(), 'mds-golden-entries-'))
after(() => rmSync(folder, { recursive: true, force: true }))

describe('the golden data directory', () => {
  let provider: EmbeddingServer
  before(async () => {
    provider = await EmbeddingServer.start()
  })
  after(() => provider.stop())

  it('golden entries: every entry is read as it was', async () => {
    const directory = unpackGoldenEntries(mkdtempSync(join(folder, 'read-')))
    const environment = openEnvironment(currentGeneration(directory), goldenEntriesKeyring())
    const entries = new View(environment, 0).binlog.entriesAfter(0n, 10_000).map(plainEntry)
    await environment.root.close()
    const golden = goldenBinlog()
    assert.deepEqual([...new Set(golden.map(({ kind }) => String(kind)))].sort(), KINDS)
    assert.deepEqual(entries, golden)
  })

  for (const isRebuilt of [false, true]) {
    const how = isRebuilt ? 'after its indexes were thrown away' : 'after a replay, and again after a restart'
    it(`golden entries: the server answers as it did, ${how}`, async () => {
      const directory = unpackGoldenEntries(mkdtempSync(join(folder, 'served-')))
      for (const index of isRebuilt ? ['index', 'vectors'] : []) rmSync(join(directory, 'gen-000001', index), { recursive: true })
      for (let start = 0; start < 2; start++) {
        const server = await startServer({ directory, env: goldenEntriesEnv(provider) })
        try {
          await untilEmbedded(server)
          assert.deepEqual(await answersOf(server), goldenAnswers())
          for (const collection of ['Plain', 'sealed', 'limited', 'moved', 'ingested']) {
            const [shown, computed] = await bothChecksums(server, collection)
            assert.deepEqual(shown, computed, collection)
          }
          assert.equal(await server.stop(), 0, server.output())
        } finally {
          await server.kill()
        }
      }
    })
  }
})
