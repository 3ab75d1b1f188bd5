/**
 * A separate program, run by power_cut_instrument.test.ts: the smallest store with the server's durability
 * guarantee.
 * `write DIR LOG`: puts values for 150 rounds and appends an event when each is acknowledged, which is after
 * the flush, then ends by SIGKILL.
 * `read DIR`: prints the keys it finds as a JSON list.
 */
import path from 'node:path'
import { open } from 'lmdb'
import { ClientEvents } from './io_log.js'

const ROUNDS = 150
const VALUE_BYTES = 3000

async function write(directory: string, log: string): Promise<void> {
  const events = new ClientEvents(log)
  const env = open({ path: path.join(directory, 'truth.mdb'), encoding: 'binary', mapSize: 1 << 28 })
  for (let round = 0; round < ROUNDS; round++) {
    const keys = [0, 1, 2].map((i) => `key-${round}-${i}`)
    await Promise.all(keys.map((key) => env.put(key, valueOf(key))))
    await env.flushed
    for (const key of keys) events.append(key)
    // An incorrect allocator would reuse the pages freed here too early.
    if (round % 3 === 2) void env.put('rewritten', valueOf(`rewritten-${round}`))
  }
  process.kill(process.pid, 'SIGKILL')
}

function valueOf(key: string): Buffer {
  return Buffer.alloc(VALUE_BYTES, `${key};`)
}

async function read(directory: string): Promise<void> {
  const env = open({ path: path.join(directory, 'truth.mdb'), encoding: 'binary', mapSize: 1 << 28 })
  const found: string[] = []
  for (const { key, value } of env.getRange()) {
    if (typeof key === 'string' && (key === 'rewritten' || valueOf(key).equals(value as Buffer))) found.push(key)
  }
  console.log(JSON.stringify(found))
  await env.close()
}

const [command, directory, log] = process.argv.slice(2)
if (command === 'write' && directory !== undefined && log !== undefined) await write(directory, log)
else if (command === 'read' && directory !== undefined) await read(directory)
else throw new Error('usage: lmdb_probe write DIR LOG, lmdb_probe read DIR')
