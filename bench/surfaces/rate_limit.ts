/**
 * Question: what does the rate limit cost a request?
 * The counter alone, one thread, a fixed clock; medians of ROUNDS rounds of CALLS calls each. Then the same
 * with another thread that counts the same client all the time. Baseline in the same run: a Map of plain
 * counters, which one thread could use for itself.
 * Run: npm run bench -- rate-limit. Fails above COST_NS_MAX for one address.
 * Last result: see bench/README.md.
 */
import { Worker } from 'node:worker_threads'
import { addressKeyOf } from '../../src/access/client_key.js'
import { RateLimit } from '../../src/access/rate_limit.js'
import { RATE_KEYS_MAX } from '../../src/access/window_counters.js'
import { percentile, Report } from '../measure/report.js'

const CALLS = 200_000
const ROUNDS = 9
/** A request takes some 24 us of its loop. */
const COST_NS_MAX = 1000

const RULES = { rateLimitRequests: 1e9, rateLimitBurst: 0, rateLimitWindowMs: 60_000, rateLimitBy: 'ip' } as const
const PROGRAM = new URL('../../src/access/rate_limit.js', import.meta.url).href
const report = new Report()

/** @returns nanoseconds a call, the median */
function measure(what: string, call: (at: number) => unknown): number {
  const rounds: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const begun = performance.now()
    for (let at = 0; at < CALLS; at++) call(at)
    rounds.push(((performance.now() - begun) * 1e6) / CALLS)
  }
  const ns = percentile(rounds, 0.5)
  report.add({ what, ns })
  return ns
}

const v4 = new Uint8Array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 203, 0, 113, 7])
const v6 = new Uint8Array([0x20, 1, 0xd, 0xb8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1])
const addressOf = (at: number): Uint8Array => new Uint8Array([10, at >> 16, at >> 8, at])

const plain = new Map<string, number>()
measure('Map of plain counters, one IPv4 address', () => {
  const key = addressKeyOf(v4)
  plain.set(key, (plain.get(key) ?? 0) + 1)
})
const limit = new RateLimit(RULES)
const cost = measure('one IPv4 address', () => limit.take(addressKeyOf(v4)))
measure('one IPv6 network', () => limit.take(addressKeyOf(v6)))
measure('a user with a name of 12 characters', () => limit.take('user ada.lovelace'))
measure('50 000 addresses', (at) => limit.take(addressKeyOf(addressOf(at % 50_000))))
const full = new RateLimit(RULES)
for (let at = 0; at < 2 * RATE_KEYS_MAX; at++) full.take(addressKeyOf(addressOf(at)))
measure('a full table, addresses without a slot', (at) => full.take(addressKeyOf(addressOf(at + 2 * RATE_KEYS_MAX))))
const refusing = new RateLimit({ ...RULES, rateLimitRequests: 1 })
measure('refused, one IPv4 address', () => refusing.take(addressKeyOf(v4)))

const other = new Worker(
  `const { workerData, parentPort } = require('node:worker_threads')
   import(workerData.program).then(({ RateLimit }) => {
     const limit = new RateLimit(workerData.rules, workerData.memory)
     parentPort.postMessage('begun')
     for (;;) limit.take('203.0.113.7')
   })`,
  { eval: true, workerData: { program: PROGRAM, rules: RULES, memory: limit.memory } },
)
await new Promise((resolve) => other.once('message', resolve))
measure('one IPv4 address, which another thread counts all the time', () => limit.take(addressKeyOf(v4)))
await other.terminate()
report.table(['what', 'ns'])
if (cost > COST_NS_MAX) {
  console.log(`FAILED: ${Math.round(cost)} ns are above ${COST_NS_MAX}`)
  process.exit(1)
}
