/**
 * A server on a machine with a wrong clock: before 1970, or after 2106, where the stored formats end. Writes
 * succeed with the nearest storable time, all requests are answered, the log reports it once, and the data is
 * readable when the clock is correct again. A preload shim (shim/clock.c) moves the clock, so that V8 and
 * every library see it.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { type Server, startServer } from '../../harness/server/server.js'
import { buildShim } from '../shim/shim_build.js'

const NOTE = /the clock is before 1970 or after 2106: times are stored as the nearest valid value/g
const TTL = 3600
/** More than all lanes take at once, so that each thread reads the clock. */
const CONCURRENT = 64

interface Stored {
  readonly addedAt: number
  readonly updatedAt: number
  readonly expiresAt?: number
}

/** @param year of the server's clock */
function envOf(year: number): Record<string, string> {
  const offset = Math.floor((Date.UTC(year, 5, 1) - Date.now()) / 1000)
  const clock = { LD_PRELOAD: buildShim('clock'), MDS_CLOCK_OFFSET_SECONDS: String(offset) }
  return { ...clock, SVC_TEMPORAL: 'true', SVC_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') }
}

async function ask<T>(server: Server, method: string, path: string, body?: unknown): Promise<T> {
  const { status, text } = await server.request(method, path, body)
  assert.ok(status === 200 || status === 202, `${path}: ${status} ${text}`)
  return JSON.parse(text) as T
}

describe('clocks that no stored time can hold', () => {
  for (const [year, second] of [
    [1960, 0],
    [2150, 0xffff_ffff],
  ] as const) {
    it(`clock: in ${year} writes with tracking and with a TTL succeed with the nearest time, the log says it once, and the process goes on`, async (test) => {
      const directory = await mkdtemp(join(tmpdir(), 'mds-clock-'))
      test.after(() => rm(directory, { recursive: true, force: true }))
      const server = await startServer({ directory, env: envOf(year) })
      test.after(() => server.kill())
      await useAll(server, second)
      const output = server.output()
      assert.match(output, new RegExp(`^${year}-\\d\\d-\\d\\dT`, 'm'), 'the shim moves the clock')
      assert.equal(output.match(NOTE)?.length, 1, output)
      assert.doesNotMatch(output, / error /)
      assert.equal(await server.stop(), 0, output)
      const right = await startServer({ directory })
      test.after(() => right.kill())
      const kept = await ask<Stored>(right, 'POST', '/v1/get', { collection: 'c', key: 'kept', lang: 'en' })
      assert.deepEqual([kept.addedAt, kept.updatedAt], [second, second])
      assert.equal(await right.stop(), 0)
      assert.doesNotMatch(right.output(), NOTE)
    })
  }
})

/** @param second the value of every stored time */
async function useAll(server: Server, second: number): Promise<void> {
  const post = <T>(path: string, body: unknown): Promise<T> => ask<T>(server, 'POST', path, body)
  const id = { collection: 'c', key: 'k', lang: 'en' }
  await ask(server, 'PUT', '/v1/collection-config', { collection: 'c', trackAccess: true })
  const mortal = await post<Stored>('/v1/add', { ...id, contentMd: 'walrus', ttl: TTL })
  assert.deepEqual([mortal.addedAt, mortal.updatedAt, mortal.expiresAt], [second, second, second + TTL])
  await post('/v1/add', { ...id, key: 'kept', contentMd: 'walrus' })
  await post('/v1/add-batch', { collection: 'c', documents: [{ key: 'l', lang: 'en', contentMd: 'walrus', ttl: TTL }] })
  await ask(server, 'PATCH', '/v1/update', { ...id, contentMd: 'walrus again' })
  assert.equal((await post<Stored>('/v1/set-ttl', { ...id, ttl: 2 * TTL })).expiresAt, second + 2 * TTL)
  const reads = Array.from({ length: CONCURRENT }, () => post<Stored>('/v1/get', id))
  const searches = Array.from({ length: CONCURRENT }, () => post<{ total: number }>('/v1/fts', { collection: 'c', query: 'walrus' }))
  for (const read of await Promise.all(reads)) assert.equal(read.updatedAt, second)
  for (const { total } of await Promise.all(searches)) assert.equal(total, 3)
  await checkTracked(server, second)
  assert.equal((await post<{ revisions: unknown[] }>('/v1/revisions', id)).revisions.length, 2)
  const { backup } = await ask<{ backup: string }>(server, 'GET', '/v1/backup')
  await post('/v1/delete', { ...id, key: 'l' })
  await ask(server, 'PUT', '/v1/collection-config', { collection: 'c', trackAccess: true, encrypted: true })
  await post('/v1/encryption/rotate', {})
  await post('/v1/restore', { from: backup })
  assert.equal((await post<{ total: number }>('/v1/fts', { collection: 'c', query: 'walrus' })).total, 3)
}

/** The default range ends with the present second. */
async function checkTracked(server: Server, second: number): Promise<void> {
  const query = { collection: 'c', key: 'k', lang: 'en', eventType: 'update' }
  const { events } = await ask<{ events: { timestamp: number }[] }>(server, 'POST', '/v1/temporal/query', query)
  assert.ok(events.length > 0 && events.every(({ timestamp }) => timestamp === second), JSON.stringify(events))
  const { buckets } = await ask<{ buckets: { count: number }[] }>(server, 'POST', '/v1/temporal/histogram', { collection: 'c', eventType: 'update' }) // prettier-ignore
  assert.ok(buckets.length === 1 && (buckets[0]?.count ?? 0) > 0, JSON.stringify(buckets))
}
