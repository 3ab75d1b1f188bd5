/**
 * A byte that changed on disk: the service says which record is damaged and never answers with wrong content; everything else stays served. The byte is changed with the server down, in the
 * data file, where the stored value shows the document's own words (values under the compression threshold are stored plain).
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { ServerProcess } from './server_process.js'

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
          assert.match((reply.body as { readonly error: string }).error, /^corrupt record body \S+/u)
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

async function write(directory: string): Promise<void> {
  const server = await ServerProcess.start(directory)
  for (let i = 0; i < DOCUMENTS; i++) {
    const reply = await server.client.post('/v1/add', { collection: COLLECTION, key: `doc-${i}`, lang: 'en', contentMd: contentOf(i) })
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

/** Changes one bit of the word wherever the file holds it (LMDB leaves copies on free pages). */
function damage(file: string, word: string): void {
  const bytes = readFileSync(file)
  let position = bytes.indexOf(word)
  assert.ok(position >= 0, `the data file does not show ${word}`)
  for (; position >= 0; position = bytes.indexOf(word, position + 1)) bytes[position + word.length - 1]! ^= 1
  writeFileSync(file, bytes)
}
