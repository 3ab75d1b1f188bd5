/**
 * Threads that start with the first use, in a process that has hardly a descriptor left: each use is
 * answered, and the next one, once there are descriptors, is served.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { execFile } from '../../harness/process/owned_processes.js'
import type { Outcomes } from './few_descriptors.js'

const CHILD = fileURLToPath(new URL('./few_descriptors.js', import.meta.url))
const DESCRIPTORS = 128
const CHILD_MS_MAX = 60_000

async function outcomes(thread: string): Promise<Outcomes> {
  const script = `ulimit -n ${DESCRIPTORS} && exec "$0" "$1" "$2"`
  const { stdout } = await promisify(execFile)('sh', ['-c', script, process.execPath, CHILD, thread], { timeout: CHILD_MS_MAX })
  return JSON.parse(stdout.trim().split('\n').pop() ?? '') as Outcomes
}

/** @param refusal of a use without a descriptor */
async function assertServedAgain(thread: string, refusal: string): Promise<void> {
  const { few, enough } = await outcomes(thread)
  assert.equal(few[0], refusal)
  assert.deepEqual([...new Set(enough)], ['done'], few.join('\n'))
}

test('without descriptors no thread can hash a password: that is 503, and the next one is hashed', async () => {
  await assertServedAgain('hashing', 'server busy, please retry')
})

test('without descriptors the local model cannot start: its text fails, and the next one gets its vector', async () => {
  await assertServedAgain('embedding', 'the local embedding model: Worker initialization failure: EMFILE')
})

test('without descriptors the thread of the audit log cannot start: it is open once there are some', async () => {
  await assertServedAgain('audit', 'the thread of the audit log has ended')
})
