/**
 * The index on disk through the real server: after kill -9 under writes, with and without damage to its file,
 * searches return what the store contains, or 503 until they can. Covers replay from the checkpoint,
 * detection of damage before an answer, and the rebuild from truth (docs/formats/index-env.md).
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { Random } from '../../harness/random.js'
import { ServerProcess } from '../../harness/server/server_process.js'

const COLLECTION = 'indexed'
/** With FILLER more than the 4 MB of text after which the index is flushed. */
const DOCUMENTS = 1200
const FILLER = Array.from({ length: 800 }, (_, index) => `filler${index % 97}`).join(' ')
const KILLS = 4
const FLIPS = 12
const COMPLETE_MS_MAX = 30_000

const keyOf = (index: number): string => `doc-${index}`

/** A unique word for every document and version. */
const markerOf = (index: number, version: number): string => `marker${index}version${version}`

async function withDirectory(run: (directory: string) => Promise<void>): Promise<void> {
  const scratch = mkdtempSync(path.join(tmpdir(), 'mds-index-'))
  try {
    await run(path.join(scratch, 'db'))
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function write(server: ServerProcess, indexes: readonly number[], version: number): Promise<void> {
  const documents = indexes.map((index) => ({ key: keyOf(index), lang: 'en', contentMd: `${markerOf(index, version)} ${FILLER}` }))
  const reply = await server.client.post('/v1/add-batch', { collection: COLLECTION, documents })
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
}

function range(begin: number, end: number): number[] {
  return Array.from({ length: end - begin }, (_, index) => begin + index)
}

interface Found {
  readonly results: readonly { readonly document: { readonly key: string } }[]
}

/** Keys that a search for one word returns; undefined while the index is being rebuilt. */
async function search(server: ServerProcess, query: string): Promise<string[] | undefined> {
  const reply = await server.client.post('/v1/fts', { collection: COLLECTION, query, limit: 10, mode: 'simple' })
  if (reply.status === 503) return undefined
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
  return (reply.body as Found).results.map((result) => result.document.key)
}

/** Correct from the first 200 on: a document is found by the word of its version and by no older one. */
async function assertComplete(server: ServerProcess, versions: ReadonlyMap<number, number>, sample: readonly number[]): Promise<void> {
  const deadline = Date.now() + COMPLETE_MS_MAX
  for (const index of sample) {
    const version = versions.get(index)
    let found: string[] | undefined
    while ((found = await search(server, markerOf(index, version ?? 0))) === undefined)
      assert.ok(Date.now() < deadline, 'the index stays unavailable')
    assert.deepEqual(found, version === undefined ? [] : [keyOf(index)], `document ${index}`)
    if (version !== undefined && version > 0) assert.deepEqual(await search(server, markerOf(index, version - 1)), [])
  }
}

async function checkpointOf(server: ServerProcess): Promise<number> {
  const page = await fetch(`http://127.0.0.1:${server.port}/metrics`).then((reply) => reply.text())
  const line = /^\w*engine_checkpoint_lsn (\d+)$/mu.exec(page)
  assert.ok(line !== null, 'the metrics tell the checkpoint')
  return Number(line[1])
}

it('after kill -9 under writes a start replays from the checkpoint: every acknowledged write is found, every deleted document is not', async () => {
  await withDirectory(async (directory) => {
    const random = new Random(7)
    const versions = new Map<number, number>()
    for (let round = 0; round < KILLS; round++) {
      const server = await ServerProcess.start(directory)
      try {
        if (round > 0) assert.ok((await checkpointOf(server)) > 0, 'the index was opened, not rebuilt from nothing')
        await assertComplete(server, versions, range(0, 60))
        for (let begin = 0; begin < DOCUMENTS; begin += 100) {
          const indexes = range(begin, begin + 100)
          await write(server, indexes, round)
          for (const index of indexes) versions.set(index, round)
        }
        for (let deleted = 0; deleted < 20; deleted++) {
          const index = random.below(DOCUMENTS)
          if (!versions.has(index)) continue
          const reply = await server.client.post('/v1/delete', { collection: COLLECTION, key: keyOf(index), lang: 'en' })
          assert.equal(reply.status, 200)
          versions.delete(index)
        }
        // In flight when the process is killed: not acknowledged, so found or not.
        void write(server, range(DOCUMENTS, DOCUMENTS + 200), round).catch(() => undefined)
      } finally {
        await server.kill()
      }
    }
    const server = await ServerProcess.start(directory)
    try {
      await assertComplete(server, versions, range(0, DOCUMENTS))
    } finally {
      await server.kill()
    }
  })
})

it('a changed byte in the index file while the server is down is harmless or found: answers are right or 503 until they are', async () => {
  await withDirectory(async (directory) => {
    const random = new Random(11)
    const versions = new Map(range(0, DOCUMENTS).map((index) => [index, 0]))
    const file = path.join(directory, 'gen-000001', 'index', 'segments.mdb')
    const first = await ServerProcess.start(directory)
    for (let begin = 0; begin < DOCUMENTS; begin += 100) await write(first, range(begin, begin + 100), 0)
    await first.stop()
    let noticed = 0
    for (let flip = 0; flip < FLIPS; flip++) {
      const bytes = readFileSync(file)
      const at = random.below(bytes.length)
      bytes[at] = (bytes[at] as number) ^ (1 << random.below(8))
      writeFileSync(file, bytes)
      const server = await ServerProcess.start(directory)
      await assertComplete(
        server,
        versions,
        range(0, DOCUMENTS).filter((index) => index % 40 === flip),
      )
      if (/^\S+ \w+ index: /mu.test(server.output)) noticed++
      await server.stop()
    }
    assert.ok(noticed > 0, 'no change hit anything')
  })
})

it('an index file that is cut, empty or no index is made again from the store', async () => {
  await withDirectory(async (directory) => {
    const versions = new Map(range(0, 100).map((index) => [index, 0]))
    const file = path.join(directory, 'gen-000001', 'index', 'segments.mdb')
    const first = await ServerProcess.start(directory)
    await write(first, range(0, 100), 0)
    await first.stop()
    for (const damaged of [readFileSync(file).subarray(0, statSync(file).size / 2), Buffer.alloc(0), Buffer.alloc(20_000, 'x')]) {
      writeFileSync(file, damaged)
      const server = await ServerProcess.start(directory)
      await assertComplete(server, versions, range(0, 100))
      await server.stop()
    }
  })
})

it('an index made by another text analysis is rebuilt at the start; one of the same analysis is opened', async () => {
  await withDirectory(async (directory) => {
    // The language of these documents is unknown, so they are analysed in the default language.
    const add = { collection: COLLECTION, documents: [{ key: 'houses', lang: 'xx', contentMd: 'Die Häuser of the running dogs' }] }
    const found = async (server: ServerProcess, query: string): Promise<number> => (await search(server, query))?.length ?? -1
    const first = await ServerProcess.start(directory)
    assert.equal((await first.client.post('/v1/add-batch', add)).status, 200)
    assert.equal(await found(first, 'run'), 1)
    await first.stop()
    for (const [defaultLang, runs, houses, isRebuilt] of [
      ['en', 1, 0, false],
      ['de', 0, 1, true],
      ['de', 0, 1, false],
    ] as const) {
      const server = await ServerProcess.start(directory, { SVC_FTS_DEFAULT_LANG: defaultLang })
      assert.equal(await found(server, 'run'), runs, defaultLang)
      assert.equal(await found(server, 'Haus'), houses, defaultLang)
      assert.equal(server.output.includes('another text analysis'), isRebuilt, server.output)
      await server.stop()
    }
  })
})
