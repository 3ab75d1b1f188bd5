/**
 * Load by wrk (github.com/wg/wrk), a client that costs less than a server's answer: requests are bodies from a file, sent in turn. Where it is not installed the bench that needs it is skipped.
 */
import { execFile, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { skip } from './report.js'

export interface WrkLoad {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  readonly path: string
  /** JSON bodies without line breaks. */
  readonly bodies: readonly string[]
}

export interface WrkResult {
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly answerBytes: number
}

const SCRIPT = `
local bodies, at = {}, 0
for line in io.lines(os.getenv("WRK_BODIES")) do bodies[#bodies + 1] = line end
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
function request()
  at = at % #bodies + 1
  return wrk.format(nil, os.getenv("WRK_PATH"), nil, bodies[at])
end
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('\\n{"requests":%d,"seconds":%.6f,"p50Ms":%.4f,"p99Ms":%.4f,"bytes":%.0f,"errors":%d}\\n', summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, summary.bytes, errors.status + errors.read + errors.write + errors.connect + errors.timeout))
end
`

/** Skips the bench where wrk is not installed. */
export function requireWrk(): void {
  if (spawnSync('wrk', ['-v'], { stdio: 'ignore' }).error !== undefined) skip('wrk is not installed')
}

/** @param scratch directory for the script and the bodies. An answer that is no success ends the bench: a fast error is no result. */
export async function runWrk(scratch: string, load: WrkLoad): Promise<WrkResult> {
  const script = path.join(scratch, 'load.lua')
  const bodies = path.join(scratch, 'bodies.ndjson')
  writeFileSync(script, SCRIPT)
  writeFileSync(bodies, `${load.bodies.join('\n')}\n`)
  const args = ['-t', '1', '-c', String(load.connections), '-d', `${load.seconds}s`, '-s', script, `http://127.0.0.1:${load.port}`]
  const { stdout } = await promisify(execFile)('wrk', args, { env: { ...process.env, WRK_BODIES: bodies, WRK_PATH: load.path } })
  const line = stdout.split('\n').find((text) => text.startsWith('{"requests"'))
  if (line === undefined) throw new Error(`wrk printed no result: ${stdout.slice(0, 300)}`)
  const { requests, seconds, p50Ms, p99Ms, bytes, errors } = JSON.parse(line) as Record<string, number>
  if (errors !== 0) throw new Error(`${errors} answers were no success`)
  return { requests: requests!, perSecond: requests! / seconds!, p50Ms: p50Ms!, p99Ms: p99Ms!, answerBytes: bytes! / requests! }
}
