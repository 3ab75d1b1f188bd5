/**
 * A power cut under SVC_DURABILITY=async, as the vector index meets it: the truth env goes back to what it
 * was some writes ago, and the files of the vector index, which are synced on their own, do not. The next
 * writes are given the same LSNs as those that were lost, so that what the files have of them must not be
 * believed. The truth env is copied while the process stands still, and put back after its end.
 */
import assert from 'node:assert/strict'
import { copyFileSync, existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { currentGeneration } from '../../src/store/layout.js'
import { vectorStats } from '../contract/embedding_client.js'
import { embedText } from '../harness/embedding_server.js'
import type { Server } from '../harness/server.js'
import { DIMENSIONS, vectorsFolder, whenLoaded, type VectorRun } from './vectors_run.js'

const COLLECTION = 'c'
/** More than are stored at rest at least. */
const DOCUMENTS = 80
/** Never written again, so that the set is not written anew: a set without a living slot would be. */
const KEPT = 80
const STORED_MS_MAX = 30_000

const contentOf = (life: string, at: number): string => `${life} ${life}${at} ${at}${life} w${life}${at}w`

/** @param run whose documents are of nobody else */
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
  // The LSNs are known now, and what the files had of them before must have gone for good.
  for (let starts = 0; starts < 2; starts++) {
    const again = await start()
    await whenLoaded(again)
    await check(again, 'next', ['first', 'lost'])
    await again.kill()
  }
}

/**
 * One after the other, each embedded before the next is written: so that the LSNs of one life are those of
 * the other.
 */
async function write(server: Server, life: string): Promise<void> {
  for (let at = 0; at < DOCUMENTS; at++) {
    const answer = await server.post('/v1/add', { collection: COLLECTION, key: `key-${at}`, lang: 'en', contentMd: contentOf(life, at) })
    assert.equal(answer.status, 200, answer.text)
    while ((await vectorStats(server)).queue.depth > 0);
  }
}

/** The lane of the engine stores at rest. @returns bytes of the rows, more than `before` */
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
