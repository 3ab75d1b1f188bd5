/**
 * HAProxy and nginx of the system, as separate processes with a configuration of the test. Both run in the
 * foreground, in a folder of their own, as the user of the test.
 */
import { type ChildProcess, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawn } from './process/owned_processes.js'
import { freePort, isListening } from './process/ports.js'
import { untilAsked } from './process/until.js'

const SERVER_FOLDERS = ['/usr/sbin', '/usr/local/sbin']
const env = { ...process.env, PATH: [process.env.PATH ?? '', ...SERVER_FOLDERS].join(':') }

export type ProxyName = 'haproxy' | 'nginx'

/** False if it is there, else the reason for which tests are skipped. */
export function skippedWithout(name: ProxyName): string | false {
  return spawnSync(name, ['-v'], { env }).status === 0 ? false : `${name} is not installed`
}

export interface Proxy {
  readonly url: string
  readonly port: number
  /** Everything printed so far. */
  output(): string
  stop(): Promise<void>
}

/**
 * @param configuration of the port to listen on and a folder for its files
 * @throws Error with its output if it ends before it listens
 */
export async function startProxy(name: ProxyName, configuration: (port: number, folder: string) => string): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), `mds-${name}-`))
  const port = await freePort()
  const path = join(folder, 'proxy.conf')
  writeFileSync(path, configuration(port, folder))
  const args = name === 'haproxy' ? ['-f', path] : ['-e', 'stderr', '-p', folder, '-c', path]
  const child = spawn(name, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')))
  const stop = async (): Promise<void> => {
    await end(child)
    rmSync(folder, { recursive: true, force: true })
  }
  await untilAsked(
    async () => {
      if (child.exitCode !== null) throw new Error(`${name} ended: ${output}`)
      return await isListening(port)
    },
    (isThere) => isThere,
  )
  return { url: `http://127.0.0.1:${port}`, port, output: () => output, stop }
}

/** The main part of nginx's configuration around what stands in a file of `conf.d`. */
export function nginxMain(site: string, folder: string): string {
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${join(folder, kind)};`)
  const http = ['access_log off;', ...folders, site].join('\n')
  return `daemon off;\nmaster_process off;\npid ${join(folder, 'pid')};\nerror_log stderr;\nevents {}\nhttp {\n${http}\n}\n`
}

/** TCP connections to a port of this machine that are open or were closed in the last minute. */
export function connectionsTo(port: number): number {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const ends = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/).slice(1, 3))
    .filter((pair) => pair.some((address) => address.endsWith(wanted)) && !pair.some((address) => address.endsWith(':0000')))
  // Both ends of a connection have a line.
  return new Set(ends.map((pair) => pair.sort().join())).size
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}
