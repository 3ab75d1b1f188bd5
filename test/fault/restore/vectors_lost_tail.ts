/**
 * A power cut under SVC_DURABILITY=async, as the vector index sees it: the truth env loses its last writes,
 * but the files of the vector index, which are synced separately, do not. The next writes get the same LSNs
 * as the lost ones, so the files' data for these LSNs must be rejected. The truth env is copied while the
 * process is stopped (SIGSTOP), and copied back after its end.
 */
import assert from 'node:assert/strict'
import { copyFileSync, existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { currentGeneration } from '../../../src/store/files/layout.js'
import { vectorStats } from '../../harness/embedding/embedding_client.js'
import { embedText } from '../../harness/embedding/embedding_server.js'
import type { Server } from '../../harness/server/server.js'
import { DIMENSIONS, type VectorRun, vectorsFolder, whenLoaded } from './vectors_run.js'

const COLLECTION = 'c'
/** More than the minimum that is stored at rest. */
const DOCUMENTS = 80
/** Never written again, so that the set is not rewritten: a set without a live slot would be. */
const KEPT = 80
const STORED_MS_MAX = 30_000

const contentOf = (life: string, at: number): string => `${life} ${life}${at} ${at}${life} w${life}${at}w`

/** @param run a run without documents of other tests */
export async function runLostTail(run: VectorRun): Promise<void> {
  const start = (): Promise<Server> => run.start({ SVC_DURABILITY: 'async' })
  const server = await start()
  const kept = Array.from({ length: KEPT }, (_, at) => ({ key: `kept-${at}`, lang: 'en', contentMd: contentOf('kept', at) }))
  assert.equal((await server.post('/v1/add-batch', { collection: COLLECTION, documents: kept })).status, 200)
  await write(server, 'first')
  let stored = await whenStored(run.directory, 0)
  const truth = join(currentGeneration(run.directory), 'truth.mdb')
  process.kill(server.pid, 'SIGSTOP')
  copyFileSync(truth, `${run.directory}/kept.mdb`)
  process.kill(server.pid, 'SIGCONT')
  await write(server, 'lost')
  stored = await whenStored(run.directory, stored)
  assert.ok(stored > 0)
  await server.kill()
  copyFileSync(`${run.directory}/kept.mdb`, truth)

  const second = await start()
  await whenLoaded(second)
  await check(second, 'first', ['lost'])
  await write(second, 'next')
  await check(second, 'next', ['first', 'lost'])
  await second.kill()
  // The LSNs are in use now, and the earlier data of the files must have gone for good.
  for (let starts = 0; starts < 2; starts++) {
    const again = await start()
    await whenLoaded(again)
    await check(again, 'next', ['first', 'lost'])
    await again.kill()
  }
}

/**
 * Writes documents one after the other, each embedded before the next is written, so that both lives use the
 * same LSNs.
 */
async function write(server: Server, life: string): Promise<void> {
  for (let at = 0; at < DOCUMENTS; at++) {
    const answer = await server.post('/v1/add', { collection: COLLECTION, key: `key-${at}`, lang: 'en', contentMd: contentOf(life, at) })
    assert.equal(answer.status, 200, answer.text)
    while ((await vectorStats(server)).queue.depth > 0);
  }
}

/**
 * Waits until the engine's lane has stored vectors, which it does at rest.
 * @returns bytes of the rows, more than `before`
 */
async function whenStored(directory: string, before: number): Promise<number> {
  const end = performance.now() + STORED_MS_MAX
  const folder = vectorsFolder(directory)
  for (;;) {
    const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.rows')) : []
    const bytes = names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
    if (bytes > before) return bytes
    assert.ok(performance.now() < end, `nothing is stored after ${STORED_MS_MAX} ms`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

async function check(server: Server, present: string, gone: readonly string[]): Promise<void> {
  for (let at = 0; at < DOCUMENTS; at++) {
    const [nearest] = await search(server, contentOf(present, at))
    assert.equal(nearest?.document.key, `key-${at}`)
    assert.ok(nearest.score > 0.9999, `key-${at} has another vector than that of its content: ${nearest.score}`)
    for (const life of gone) {
      const [found] = await search(server, contentOf(life, at))
      assert.ok((found?.score ?? 0) < 0.9999, `a vector of ${life} is found`)
    }
  }
}

async function search(
  server: Server,
  content: string,
): Promise<readonly { readonly document: { readonly key: string }; readonly score: number }[]> {
  const queryVector = [...embedText(content, DIMENSIONS)]
  const answer = await server.post('/v1/vector-search', { collection: COLLECTION, queryVector, topK: 1, threshold: -1, algorithm: 'flat' })
  assert.equal(answer.status, 200, answer.text)
  return answer.json<{ results: readonly { document: { key: string }; score: number }[] }>().results
}
