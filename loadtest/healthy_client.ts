/**
 * A well-behaved client in a separate process: gets one document every 4 ms and reports its latencies on
 * request. Started by loadtest/hostile.ts and loadtest/surface_flood.ts.
 */
import { Agent, request } from 'node:http'

/** The report on the time since the last request for it. */
export interface Waits {
  readonly answers: number
  /** Requests without a 200. A busy server may answer 503 occasionally. */
  readonly refused: number
  readonly failed: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly longestMs: number
}

const EVERY_MS = 4

function poll(port: number): void {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const body = JSON.stringify({ collection: 'healthy', key: 'k', lang: 'en' })
  let waits: number[] = []
  let [refused, failed] = [0, 0]
  const ask = (): void => {
    const begin = performance.now()
    const outgoing = request(
      { agent, host: '127.0.0.1', port, method: 'POST', path: '/v1/get', headers: { 'content-length': body.length } },
      (answer) => {
        if (answer.statusCode !== 200) refused += 1
        answer.resume().on('end', () => waits.push(performance.now() - begin))
      },
    )
    outgoing.on('error', () => (failed += 1))
    outgoing.end(body)
  }
  setInterval(ask, EVERY_MS)
  process.on('message', () => {
    const sorted = waits.sort((one, other) => one - other)
    const at = (share: number): number => Math.round(100 * (sorted[Math.floor(share * sorted.length)] ?? sorted.at(-1) ?? 0)) / 100
    const [p50Ms, p99Ms, longestMs] = [at(0.5), at(0.99), at(1)]
    process.send?.({ answers: sorted.length, refused, failed, p50Ms, p99Ms, longestMs } satisfies Waits)
    waits = []
    ;[refused, failed] = [0, 0]
  })
  process.on('disconnect', () => process.exit(0))
}

poll(Number(process.argv[2]))
