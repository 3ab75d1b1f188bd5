/** Counters in shared memory: exact over threads, bounded, never freed within their window. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { Worker } from 'node:worker_threads'
import { RATE_SHARED_COUNTERS, WindowCounters } from '../../../src/access/window_counters.js'

const MOST = 1_000_000
const PROGRAM = new URL('../../../src/access/window_counters.js', import.meta.url).href

describe('window counters', () => {
  it('window counters: each key has its own count, which begins again with each window', () => {
    const counters = WindowCounters.create(1024)
    for (let round = 1; round <= 3; round++) {
      for (let key = 0; key < 500; key++) assert.equal(counters.add(`k${key}`, 1, MOST), round)
    }
    assert.equal(counters.add('k7', 2, MOST), 1)
    assert.equal(counters.add('k7', 2, MOST), 2)
  })

  it('window counters: exactly one count is the first above the limit, and the counter does not grow beyond it', () => {
    const counters = WindowCounters.create(16)
    const counts = Array.from({ length: 8 }, () => counters.add('k', 1, 3))
    assert.deepEqual(counts, [1, 2, 3, 4, 5, 5, 5, 5])
  })

  it('window counters: a flood of other keys evicts no counter, however many there are', () => {
    const counters = WindowCounters.create(1024)
    for (let at = 0; at < 10; at++) counters.add('attacker', 5, MOST)
    for (let key = 0; key < 50_000; key++) counters.add(`flood ${key}`, 5, MOST)
    assert.equal(counters.add('attacker', 5, MOST), 11)
  })

  it('window counters: keys that find no slot share counters, so that a full table bounds them, too', () => {
    const counters = WindowCounters.create(64)
    const limit = 2
    let admitted = 0
    for (let key = 0; key < 50_000; key++) if (counters.add(`flood ${key}`, 1, limit) <= limit) admitted += 1
    assert.ok(admitted <= 64 + RATE_SHARED_COUNTERS * limit, `${admitted} admitted`)
    assert.ok(admitted > RATE_SHARED_COUNTERS, 'most shared counters are used')
    assert.equal(counters.add('flood 0', 1, limit), 2, 'the first key has a slot')
    assert.equal(counters.add('flood 49999', 2, limit), 1, 'the next window begins empty')
  })

  it('window counters: a thread whose clock is a moment behind counts in the later window', () => {
    const counters = WindowCounters.create(16)
    assert.equal(counters.add('k', 9, MOST), 1)
    assert.equal(counters.add('k', 8, MOST), 2)
    assert.equal(counters.add('k', 9, MOST), 3)
  })

  it('window counters: threads that count the same keys at the same time lose no count, also where windows begin', async () => {
    const [threads, rounds, keys, windows] = [4, 300, 50, 20]
    const counters = WindowCounters.create(256)
    const gate = new Int32Array(new SharedArrayBuffer(8))
    const code = `
      const { workerData } = require('node:worker_threads')
      import(workerData.program).then(({ WindowCounters }) => {
        const counters = new WindowCounters(workerData.buffer)
        for (let window = 1; window <= workerData.windows; window++) {
          // All threads begin each window together, so that they claim slots together.
          Atomics.add(workerData.gate, 0, 1)
          while (Atomics.load(workerData.gate, 0) < window * workerData.threads);
          for (let round = 0; round < workerData.rounds; round++)
            for (let key = 0; key < workerData.keys; key++) counters.add('k' + key, window, 1e6)
          Atomics.add(workerData.gate, 1, 1)
          while (Atomics.load(workerData.gate, 1) < window * workerData.threads);
        }
      })`
    const workerData = { program: PROGRAM, buffer: counters.buffer, gate, threads, rounds, keys, windows }
    const workers = Array.from({ length: threads }, () => new Worker(code, { eval: true, workerData }))
    await Promise.all(workers.map((worker) => once(worker, 'exit')))
    for (let key = 0; key < keys; key++) assert.equal(counters.add(`k${key}`, windows, MOST), threads * rounds + 1, `k${key}`)
  })
})
