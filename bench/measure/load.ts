/**
 * Closed-loop load: each of a number of connections sends its next request when the previous one is answered,
 * for a given time. An answer other than 200 ends the bench, so that fast errors do not count as results.
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { ConnectionOptions } from 'node:tls'
import { Connection } from './connection.js'
import { percentile } from './report.js'

export interface LoadResult {
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

/**
 * @param next makes the n-th request (n counts from 0 over the whole load); null ends the load
 * @param tls of a server with TLS
 * @param seconds how long to send; requests in flight at the end are counted with their full time
 */
export async function runLoad(
  port: number,
  connections: number,
  seconds: number,
  next: (n: number) => Buffer | null,
  tls?: ConnectionOptions,
): Promise<LoadResult> {
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(port, tls)))
  const latencies: number[] = []
  const begun = performance.now()
  const end = begun + seconds * 1000
  let sent = 0
  const work = async (connection: Connection): Promise<void> => {
    for (;;) {
      const sentAt = performance.now()
      const request = sentAt < end ? next(sent) : null
      if (request === null) return
      sent++
      const answer = await connection.send(request)
      if (answer.status !== 200) throw new Error(`answer ${answer.status}: ${answer.body.toString('utf8', 0, 300)}`)
      latencies.push(performance.now() - sentAt)
    }
  }
  await Promise.all(open.map(work))
  const elapsedSeconds = (performance.now() - begun) / 1000
  for (const connection of open) connection.close()
  return resultOf(latencies, elapsedSeconds)
}

/**
 * Open-loop load: requests are due at a steady rate, independent of the answers. A latency counts from when
 * the request was due, including the wait for a free connection. A stalled server therefore also receives the
 * requests that fall due during the stall (no coordinated omission). The client polls the clock, because
 * timers are a millisecond late; it occupies a core.
 */
export async function runOpenLoad(
  port: number,
  connections: number,
  perSecond: number,
  seconds: number,
  next: (n: number) => Buffer,
): Promise<LoadResult> {
  const free = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)))
  const open = [...free]
  const waiting: number[] = []
  const latencies: number[] = []
  const begun = performance.now()
  const dueAt = (n: number): number => begun + (n * 1000) / perSecond
  const work = async (connection: Connection, first: number): Promise<void> => {
    for (let n: number | undefined = first; n !== undefined; n = waiting.shift()) {
      const answer = await connection.send(next(n))
      if (answer.status !== 200) throw new Error(`answer ${answer.status}: ${answer.body.toString('utf8', 0, 300)}`)
      latencies.push(performance.now() - dueAt(n))
    }
    free.push(connection)
  }
  const total = perSecond * seconds
  const works: Promise<void>[] = []
  for (let sent = 0; sent < total; await turn()) {
    for (; sent < total && dueAt(sent) <= performance.now(); sent++) {
      const connection = free.shift()
      if (connection === undefined) waiting.push(sent)
      else works.push(work(connection, sent))
    }
  }
  await Promise.all(works)
  const elapsedSeconds = (performance.now() - begun) / 1000
  for (const connection of open) connection.close()
  return resultOf(latencies, elapsedSeconds)
}

function resultOf(latencies: number[], elapsedSeconds: number): LoadResult {
  return {
    requests: latencies.length,
    perSecond: latencies.length / elapsedSeconds,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    maxMs: percentile(latencies, 1),
  }
}
