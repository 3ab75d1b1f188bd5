/**
 * Load by `wrk`, if it is installed: a generator in C that uses little of the cores that it shares with the
 * server. Each thread cycles through the requests; keep-alive connections; a closed loop. Without it the
 * benches' own client sends the same requests.
 */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { execFile } from '../../test/harness/process/owned_processes.js'
import { getBytes, postBytes } from './connection.js'
import { runLoad } from './load.js'
import { skipPart } from './report.js'

export interface Request {
  readonly path: string
  /** A GET if absent. */
  readonly json?: string
}

export interface Load {
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

const hasWrk = spawnSync('wrk', ['--version'], { stdio: 'ignore' }).error === undefined
if (!hasWrk) skipPart('wrk is not installed: load comes from the bench itself, which costs more of the cores')

/**
 * @param script where the program for wrk is written
 * @param core on which it runs; any if absent
 */
export async function load(
  port: number,
  connections: number,
  seconds: number,
  requests: readonly Request[],
  script: string,
  core?: string,
): Promise<Load> {
  if (!hasWrk) {
    const bytes = requests.map(({ path, json }) => (json === undefined ? getBytes(path) : postBytes(path, json)))
    return runLoad(port, connections, seconds, (n) => bytes[n % bytes.length]!)
  }
  writeFileSync(script, program(requests))
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', script, `http://127.0.0.1:${port}`]
  const [command, rest] = core === undefined ? ['wrk', args] : ['taskset', ['-c', core, 'wrk', ...args]]
  const { stdout } = await promisify(execFile)(command, rest)
  const found = /^RESULT (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$/mu.exec(stdout)
  if (found === null) throw new Error(`wrk says: ${stdout.slice(-500)}`)
  const [requestsDone = 0, micros = 1, p50 = 0, p99 = 0, max = 0, failures = 0] = found.slice(1).map(Number)
  if (failures > 0) throw new Error(`${failures} answers were no answers: ${stdout.slice(-500)}`)
  return { requests: requestsDone, perSecond: requestsDone / (micros / 1e6), p50Ms: p50 / 1000, p99Ms: p99 / 1000, maxMs: max / 1000 }
}

/**
 * Each request is formatted once. Any answer other than 200 counts as a failure, so that fast errors do not
 * count as results.
 */
function program(requests: readonly Request[]): string {
  const formatted = requests.map(({ path, json }) =>
    json === undefined ? `  wrk.format('GET', ${luaText(path)}),` : `  wrk.format('POST', ${luaText(path)}, headers, ${luaText(json)}),`,
  )
  return `local headers = { ['Content-Type'] = 'application/json' }
local requests, at = nil, 0
function init()
  requests = {
${formatted.join('\n')}
  }
end
function request()
  at = at % #requests + 1
  return requests[at]
end
function done(summary, latency)
  local e = summary.errors
  print(string.format('RESULT %d %d %d %d %d %d', summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), latency.max, e.connect + e.read + e.write + e.status + e.timeout))
end
`
}

/** Bytes outside ASCII and quotes as decimal escapes. */
function luaText(text: string): string {
  const escaped = [...Buffer.from(text)].map((byte) =>
    byte < 32 || byte > 126 || byte === 34 || byte === 92 ? `\\${String(byte).padStart(3, '0')}` : String.fromCharCode(byte),
  )
  return `"${escaped.join('')}"`
}
