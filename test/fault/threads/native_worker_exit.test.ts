/**
 * Guarantee: threads may end at any moment while they are inside the native engine, by `process.exit` or
 * `terminate`, and the process ends cleanly. The test runs a child process whose workers only call the addon.
 * In a thread that is being ended every N-API call fails; an addon that turns the failure into a C++
 * exception aborts.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const addon = join(import.meta.dirname, '../../../../build/mds_engine.node')

/**
 * Body of the child: `WORKERS` threads in turn search, fail, keep a body and read it; then `END` is executed.
 */
const child = `
const { Worker } = require('node:worker_threads')
const addonPath = ${JSON.stringify(addon)}
const source = \`
  const { parentPort, workerData } = require('node:worker_threads')
  const engine = require(workerData)
  const float = (value) => new Uint32Array(new Float32Array([value]).buffer)[0]
  const all = new Uint8Array(new Uint32Array([0x3251534d, 1, 2, float(1.2), float(0.75), 10, 0, 0, 0, 1, 0xffffffff, 0, 0, 0, 6]).buffer)
  const id = new Uint8Array(16)
  engine.search(all)
  parentPort.postMessage('searching')
  for (;;) {
    engine.search(all)
    engine.stats()
    engine.keepBody(id, all, 1e6)
    engine.sharedBody(id)
    try { engine.search(new Uint8Array(3)) } catch {}
  }
\`
require(addonPath)
let searching = 0
const workers = [0, 1].map(() => new Worker(source, { eval: true, workerData: addonPath }))
for (const worker of workers) worker.on('message', () => { if (++searching === workers.length) end() })
`

const ends = {
  'process.exit beside searching workers ends with its code': { script: 'function end() { process.exit(7) }', code: 7 },
  'terminated workers leave a process that goes on': {
    script:
      'async function end() { for (const worker of workers) await worker.terminate(); require(addonPath).stats(); process.exitCode = 8 }',
    code: 8,
  },
}

describe('native engine: ends of threads', { skip: existsSync(addon) ? false : 'build/mds_engine.node is not built' }, () => {
  for (const [name, { script, code }] of Object.entries(ends)) {
    it(name, () => {
      for (let round = 0; round < 5; round++) {
        const result = spawnSync(process.execPath, ['-e', child + script], { encoding: 'utf8', timeout: 60_000 })
        assert.equal(result.status, code, result.stderr)
      }
    })
  }
})
