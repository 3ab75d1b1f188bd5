/**
 * A long history takes little space: superseded states are stored as differences in the background. Sizes are
 * those of the stored records.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { isDelta } from '../../../src/store/body.js'
import { openEnvironment } from '../../../src/store/environment.js'
import { currentGeneration } from '../../../src/store/files/layout.js'
import { DocumentsClient } from '../../harness/clients/documents_client.js'

const REVISIONS = 100
const BYTES_MAX = 60_000
const folder = mkdtempSync(join(tmpdir(), 'mds-packing-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** 10 KB of prose-like text; each revision changes another sentence. */
function contentOf(revision: number): string {
  const sentences = Array.from({ length: 150 }, (_, index) => {
    const changed = revision > 0 && (revision * 37) % 150 === index
    const word = (n: number): string => (Math.imul(index * 7 + n, 0x9e3779b1) >>> 0).toString(36)
    return `${word(1)} ${word(2)} stands beside ${word(3)} and ${word(4)} in sentence ${index}${changed ? `, changed for the ${revision}th time` : ''}.`
  })
  return sentences.join('\n')
}

/** Bytes of the records of all documents, and the number of bodies stored as differences. */
function storedIn(path: string): { readonly bytes: number; readonly differences: number } {
  const environment = openEnvironment(currentGeneration(path))
  let bytes = 0
  for (const table of [environment.heads, environment.revisions, environment.bodies, environment.bodyCounts]) {
    for (const { key, value } of table.getRange()) bytes += key.length + value.length
  }
  const differences = [...environment.bodies.getRange()].filter(({ value }) => isDelta(value)).length
  void environment.root.close()
  return { bytes, differences }
}

describe('packed revisions', () => {
  it('100 revisions of a document of 10 KB with small changes take less than 60 KB, and each reads as it was written, before and after a restart', async () => {
    const database = join(folder, 'database')
    const first = await DocumentsClient.start({ directory: database })
    for (let revision = 0; revision < REVISIONS; revision++) await first.add('wiki', 'page', { contentMd: contentOf(revision) })
    await first.until(async () => (await packed(first)) >= 97, 'the revisions are packed')
    const expected = Array.from({ length: REVISIONS }, (_, index) => contentOf(REVISIONS - 1 - index))
    assert.ok(Buffer.byteLength(expected[0] ?? '') > 9_500)
    const contents = async (client: DocumentsClient): Promise<string[]> =>
      (await client.revisions('wiki', 'page')).map(({ contentMd }) => contentMd)
    assert.deepEqual(await contents(first), expected)
    await first.stop()

    const stored = storedIn(database)
    assert.ok(stored.differences >= 97, `${stored.differences} bodies are differences`)
    assert.ok(stored.bytes < BYTES_MAX, `${stored.bytes} bytes`)

    const second = await DocumentsClient.start({ directory: database })
    assert.deepEqual(await contents(second), expected)
    const oldest = (await second.revisions('wiki', 'page')).at(-1)
    const fields = { collection: 'wiki', key: 'page', lang: 'en', timestamp: oldest?.timestamp, revision: 1 }
    const restored = await second.post('/v1/revisions/restore', fields)
    assert.equal(restored.json<{ contentMd: string }>().contentMd, contentOf(0))
    assert.equal((await second.get('wiki', 'page'))?.contentMd, contentOf(0))
    await second.stop()
  })
})

async function packed(client: DocumentsClient): Promise<number> {
  const { text } = await client.server.request('GET', '/metrics')
  return Number(/^mddb_revisions_packed_total (\d+)$/m.exec(text)?.[1])
}
