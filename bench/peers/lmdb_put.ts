/**
 * A separate program: stores the same bodies on the same disk with bare lmdb-js, one put at a time, each
 * awaited until it is flushed. Usage: `node lmdb_put.js CORPUS.ndjson DIR SECONDS INDEX_KEYS`.
 * INDEX_KEYS small puts go into the same commit, as an index in the same store would cause. Prints one JSON
 * line.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { open } from 'lmdb'
import { percentile } from '../measure/report.js'

const [corpus, directory, secondsText, indexKeysText] = process.argv.slice(2)
if (corpus === undefined || directory === undefined) throw new Error('usage: lmdb_put CORPUS.ndjson DIR SECONDS INDEX_KEYS')
const seconds = Number(secondsText)
const indexKeys = Number(indexKeysText)
const bodies = readFileSync(corpus, 'utf8')
  .split('\n')
  .filter((line) => line.length > 0)
  .map((line) => Buffer.from(line))
const env = open({ path: path.join(directory, 'bare.mdb'), encoding: 'binary', mapSize: 8 * 2 ** 30 })
const latencies: number[] = []
const begun = performance.now()
for (let n = 0; performance.now() - begun < seconds * 1000; n++) {
  const at = performance.now()
  const puts = [env.put(`doc|${n}`, bodies[n % bodies.length]!)]
  for (let k = 0; k < indexKeys; k++) puts.push(env.put(`index|${k}|${(n * 40_503 + k) % 5_000}|${n}`, Buffer.from('1')))
  await Promise.all(puts)
  await env.flushed
  latencies.push(performance.now() - at)
}
const perSecond = latencies.length / ((performance.now() - begun) / 1000)
console.log(JSON.stringify({ connections: 1, indexKeys, perSecond, p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99) }))
await env.close()
