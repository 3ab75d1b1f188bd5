/**
 * Bodies in native memory: a body kept by one thread is visible to all, bytes are copies, limits and ids are
 * checked.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { beforeEach, describe, it } from 'node:test'
import { Worker } from 'node:worker_threads'
import { openSharedBodies } from '../../../src/engine/shared_bodies.js'
import { OVERRIDABLE } from '../../../src/limits/overridable.js'

const OVERHEAD_BYTES = 192

const idOf = (number: number): Buffer => {
  const id = Buffer.alloc(16)
  id.writeUInt32LE(number)
  return id
}

/** A thread that executes commands: `[function, ...arguments]` in, the result out. */
const lane = `
  const { parentPort, workerData } = require('node:worker_threads')
  import(workerData).then(({ openSharedBodies }) => {
    const bodies = openSharedBodies({ SHARED_BODIES_KEPT_BYTES_MAX: 2 ** 30, SHARED_BODIES_CACHED_BYTES_MAX: 2 ** 28 })
    parentPort.on('message', ([name, ...given]) => parentPort.postMessage(bodies[name](...given)))
  })
`

class Lane {
  private readonly worker = new Worker(lane, {
    eval: true,
    workerData: new URL('../../../src/engine/shared_bodies.js', import.meta.url).href,
  })

  async call(...message: readonly unknown[]): Promise<unknown> {
    this.worker.postMessage(message)
    const [result] = (await once(this.worker, 'message')) as [unknown]
    return result
  }

  end(): Promise<number> {
    return this.worker.terminate()
  }
}

describe('held bodies', () => {
  const bodies = openSharedBodies(OVERRIDABLE)

  beforeEach(() => {
    bodies.clear()
    for (let number = 0; number < 100; number++) bodies.remove(idOf(number))
  })

  it('two workers and this thread see the bodies of each other, and bodies outlive their thread', async () => {
    const [one, other] = [new Lane(), new Lane()]
    try {
      assert.equal(await one.call('keep', idOf(1), Buffer.from('kept by one')), true)
      await other.call('cache', idOf(2), Buffer.from('cached by the other'))
      assert.deepEqual(await other.call('get', idOf(1)), new Uint8Array(Buffer.from('kept by one')))
      assert.deepEqual(await one.call('get', idOf(2)), new Uint8Array(Buffer.from('cached by the other')))
      assert.equal(bodies.get(idOf(1))?.toString(), 'kept by one')
      await other.call('remove', idOf(1))
      assert.equal(await one.call('has', idOf(1)), false)
      assert.equal(bodies.get(idOf(1)), undefined)
      assert.equal(bodies.keep(idOf(3), Buffer.from('kept here')), true)
      assert.deepEqual(await one.call('stats'), bodies.stats())
    } finally {
      await Promise.all([one.end(), other.end()])
    }
    assert.equal(bodies.get(idOf(2))?.toString(), 'cached by the other')
  })

  it('bytes given and got are copies', () => {
    const given = Buffer.from('unchanged')
    bodies.keep(idOf(1), given)
    given.fill(0)
    bodies.get(idOf(1))?.fill(0)
    assert.equal(bodies.get(idOf(1))?.toString(), 'unchanged')
  })

  it('an empty record is kept, which is different from no record', () => {
    assert.equal(bodies.keep(idOf(1), new Uint8Array()), true)
    assert.deepEqual(bodies.get(idOf(1)), Buffer.alloc(0))
    assert.equal(bodies.has(idOf(1)), true)
    assert.equal(bodies.get(idOf(2)), undefined)
  })

  it('refuses to keep what exceeds the bound, and lets cached bodies go for it', () => {
    const record = Buffer.alloc(1000)
    const bytes = record.length + OVERHEAD_BYTES
    const small = openSharedBodies({ SHARED_BODIES_KEPT_BYTES_MAX: 2 * bytes, SHARED_BODIES_CACHED_BYTES_MAX: 2 * bytes })
    assert.deepEqual(
      [1, 2, 3].map((number) => small.keep(idOf(number), record)),
      [true, true, false],
    )
    for (const number of [11, 12, 13]) small.cache(idOf(number), record)
    assert.deepEqual(
      [11, 12, 13].map((number) => bodies.has(idOf(number))),
      [false, true, true],
    )
    assert.deepEqual(small.stats(), { kept: 2, keptBytes: 2 * bytes, cached: 2, cachedBytes: 2 * bytes })
    bodies.clear()
    assert.deepEqual(small.stats(), { kept: 0, keptBytes: 0, cached: 2, cachedBytes: 2 * bytes })
  })

  it('an id of any other length than 16 bytes is a TypeError', () => {
    for (const id of [new Uint8Array(), new Uint8Array(15), new Uint8Array(17)]) {
      assert.throws(() => bodies.keep(id, Buffer.from('x')), TypeError)
      assert.throws(() => bodies.cache(id, Buffer.from('x')), TypeError)
      assert.throws(() => bodies.get(id), TypeError)
      assert.throws(() => bodies.has(id), TypeError)
      assert.throws(() => bodies.remove(id), TypeError)
    }
  })
})
