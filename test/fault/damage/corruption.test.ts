/**
 * A changed byte on disk: the service names the damaged record and never answers with wrong content;
 * everything else stays served. The test changes the byte in the data file with the server down, at the
 * document's own words (values under the compression threshold are stored uncompressed).
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { untilAsked } from '../../harness/process/until.js'
import { ServerProcess } from '../../harness/server/server_process.js'

const COLLECTION = 'damage'
const DOCUMENTS = 6

it('a changed byte in a stored body gives a 500 that names the record, and every other document is served', async () => {
  const scratch = mkdtempSync(path.join(tmpdir(), 'mds-corruption-'))
  const directory = path.join(scratch, 'db')
  try {
    await write(directory)
    damage(path.join(directory, 'gen-000001', 'truth.mdb'), marker(2))
    const server = await ServerProcess.start(directory)
    try {
      for (let i = 0; i < DOCUMENTS; i++) {
        const reply = await server.client.post('/v1/get', { collection: COLLECTION, key: `doc-${i}`, lang: 'en' })
        if (i === 2) {
          assert.equal(reply.status, 500, JSON.stringify(reply.body))
          const { error, requestId } = reply.body as { readonly error: string; readonly requestId: string }
          assert.match(error, /^corrupt record body \S+/u)
          assert.match(requestId, /^[0-9a-f]{16}$/u)
          assert.ok(!JSON.stringify(reply.body).includes('.ts:'), 'no stack')
          await untilAsked(() => Promise.resolve(server.output), (output) => output.includes(requestId)) // prettier-ignore
        } else {
          assert.equal(reply.status, 200)
          assert.equal((reply.body as { readonly contentMd: string }).contentMd, contentOf(i))
        }
      }
    } finally {
      await server.kill()
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
})

it('a changed byte in a stored head is named by every read and write of the document, also when it expires, and the server stays up', async () => {
  const scratch = mkdtempSync(path.join(tmpdir(), 'mds-corruption-'))
  const directory = path.join(scratch, 'db')
  try {
    await write(directory, 3)
    damage(path.join(directory, 'gen-000001', 'truth.mdb'), '"key":"doc-2"')
    const server = await ServerProcess.start(directory)
    try {
      const address = { collection: COLLECTION, key: 'doc-2', lang: 'en' }
      for (const [route, body] of [
        ['/v1/get', address],
        ['/v1/add', { ...address, contentMd: 'new' }],
        ['/v1/delete', address],
        ['/v1/set-ttl', { ...address, ttl: 60 }],
      ] as const) {
        const reply = await server.client.post(route, body)
        assert.equal(reply.status, 500, `${route}: ${JSON.stringify(reply.body)}`)
        assert.match((reply.body as { readonly error: string }).error, /^corrupt record head \S+/u)
      }
      await expired(server)
      const reply = await server.client.post('/v1/get', address)
      assert.equal(reply.status, 500, 'the damage is still named after the sweep')
      assert.equal(server.ended, false)
    } finally {
      await server.kill()
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
})

/** Waits until the sweeper has deleted every document but the damaged one. */
async function expired(server: ServerProcess): Promise<void> {
  for (const deadline = Date.now() + 20_000; Date.now() < deadline;) {
    const reply = await server.client.send('GET', '/v1/stats')
    if ((reply.body as { readonly totalDocuments: number }).totalDocuments === 1) return
  }
  assert.fail('expired documents were not swept')
}

async function write(directory: string, ttl = 0): Promise<void> {
  const server = await ServerProcess.start(directory)
  for (let i = 0; i < DOCUMENTS; i++) {
    const reply = await server.client.post('/v1/add', { collection: COLLECTION, key: `doc-${i}`, lang: 'en', contentMd: contentOf(i), ttl })
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
  }
  await server.stop()
}

function marker(i: number): string {
  return `unmistakable-${i}-marker`
}

function contentOf(i: number): string {
  return `# Document ${i}\n\nThis is the ${marker(i)} of the document.\n`
}

/** Flips one bit of the word at every occurrence in the file (LMDB leaves copies on free pages). */
function damage(file: string, word: string): void {
  const bytes = readFileSync(file)
  let position = bytes.indexOf(word)
  assert.ok(position >= 0, `the data file does not show ${word}`)
  for (; position >= 0; position = bytes.indexOf(word, position + 1)) bytes[position + word.length - 1]! ^= 1
  writeFileSync(file, bytes)
}
