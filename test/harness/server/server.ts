/**
 * A real server for tests: the built program in a separate process, on a free port and in a temporary data
 * directory. A start waits for the ready line. The process is the server itself, without the supervisor,
 * unless the test asks for it.
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, type IncomingHttpHeaders, request as httpRequest } from 'node:http'
import { Agent as TlsAgent, request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ConnectionOptions } from 'node:tls'
import { programPath } from '../../../src/base/installation.js'
import { gcFlags } from '../../../src/supervisor.js'
import { spawn } from '../process/owned_processes.js'

/**
 * Time limit of a start: an empty store needs half a second, the rest is for a loaded machine and for tests
 * that restart a filled store.
 */
const START_MS_MAX = 60_000
/** Time limit of a start that must be refused. */
const REFUSAL_MS_MAX = 30_000
export const MAIN = programPath('main')

export interface ServerOptions {
  /** Another program instead of the installation's. */
  readonly main?: string
  /** Added to the environment; `undefined` removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly args?: readonly string[]
  /** Another Node executable than that of the tests. */
  readonly execPath?: string
  /** Node options, before the program. */
  readonly nodeArgs?: readonly string[]
  /** Kept after `stop`. Default: a new directory, removed by `stop`. */
  readonly directory?: string
  /** With the parent process that restarts the server. Default false. */
  readonly supervisor?: boolean
  /** Called immediately after the spawn, for actions during the start. */
  readonly onSpawn?: (pid: number, isReady: () => boolean) => void
  /** Runs the server as this user, which requires the privilege to do so. */
  readonly uid?: number
  /** `host:port` or `unix:/path`. Default: a free port of the loopback address. */
  readonly address?: string
  /** For a server with TLS: the CA that is trusted, perhaps a certificate and its key. */
  readonly tls?: ConnectionOptions
}

export interface TestResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly text: string
  /** The body as JSON, with the type that the caller expects. */
  json<T = Record<string, unknown>>(): T
}

export interface Server {
  readonly pid: number
  readonly directory: string
  /** The printed address: `127.0.0.1:40123` or `unix:/path`. */
  readonly address: string
  readonly port: number
  readonly url: string
  /** The printed address of another surface, `grpc` or `mcp`. */
  addressOf(surface: string): string
  /** Everything printed so far, both streams. */
  output(): string
  /** Closes the reading end of the output streams. */
  closeOutput(): void
  /** Objects and arrays are sent as JSON, text and bytes unchanged. */
  request(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<TestResponse>
  post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<TestResponse>
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<TestResponse>
  /** SIGTERM; settles with the exit code when the process has ended. */
  stop(): Promise<number | null>
  /** SIGKILL; the data directory is kept. */
  kill(): Promise<void>
  /** Settles with the exit code (null after a signal) when the process ends by itself. */
  readonly ended: Promise<number | null>
}

/** @throws Error with all output if the server ends before it is ready */
export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'mds-test-')))
  const child = spawnServer({ ...options, directory })
  const printed = collectOutput(child)
  let isReady = false
  options.onSpawn?.(child.pid ?? -1, () => isReady)
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  await untilReady(child, printed).finally(() => (isReady = true))
  const connected = connectTo(printed, options.tls)
  const finish = async (signal: NodeJS.Signals): Promise<number | null> => {
    connected.disconnect()
    child.kill(signal)
    return await ended
  }
  return {
    ...connected,
    pid: child.pid ?? -1,
    directory,
    output: printed,
    closeOutput: () => {
      child.stdout?.destroy()
      child.stderr?.destroy()
    },
    stop: async () => {
      const code = await finish('SIGTERM')
      if (options.directory === undefined) await rm(directory, { recursive: true, force: true })
      return code
    },
    kill: async () => {
      await finish('SIGKILL')
    },
    ended,
  }
}

type Connected = Pick<Server, 'address' | 'port' | 'url' | 'addressOf' | 'request' | 'post' | 'get'> & { readonly disconnect: () => void }

/**
 * An idle connection is closed here before the server closes it, after 10 s: a request could be on its way
 * then.
 */
const KEPT_IDLE_MS = 5_000

/** The requests to a server that has printed this. */
export function connectTo(printed: () => string, tls?: ConnectionOptions): Connected {
  const address = readyAddressIn(printed()) ?? ''
  const kept = { keepAlive: true, maxSockets: 256, timeout: KEPT_IDLE_MS }
  const agent = tls === undefined ? new Agent(kept) : new TlsAgent({ ...kept, ...tls })
  const target = targetOf(address)
  const request: Server['request'] = (method, path, body, headers) => send({ ...target, agent, method, path }, body, headers)
  return {
    address,
    port: target.port ?? 0,
    url: `${tls === undefined ? 'http' : 'https'}://${address}`,
    addressOf: (surface) => surfaceAddress(printed(), surface),
    request,
    post: (path, body, headers) => request('POST', path, body, headers),
    get: (path, headers) => request('GET', path, undefined, headers),
    disconnect: () => agent.destroy(),
  }
}

/** Starts the program and waits for its end, for starts that must be refused. */
export async function runToEnd(options: ServerOptions): Promise<{ readonly code: number | null; readonly output: string }> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'mds-test-')))
  const child = spawnServer({ ...options, directory })
  const printed = collectOutput(child)
  // A start that is not refused would run forever.
  const late = setTimeout(() => child.kill('SIGKILL'), REFUSAL_MS_MAX)
  const [code] = (await once(child, 'close')) as [number | null]
  clearTimeout(late)
  if (options.directory === undefined) await rm(directory, { recursive: true, force: true })
  return { code, output: printed() }
}

function spawnServer(options: ServerOptions & { readonly directory: string }): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_') && name !== 'NODE_TEST_CONTEXT')
  // Results of tests must not depend on whether Ollama runs on the machine.
  const standard = {
    SVC_SUPERVISOR: String(options.supervisor === true),
    SVC_EMBEDDING_AUTODETECT: '0',
    // Beside a fixed address of HTTP, too, because tests run side by side.
    SVC_GRPC_ADDR: '127.0.0.1:0',
    SVC_MCP_ADDR: '127.0.0.1:0',
  }
  const env = { ...Object.fromEntries(inherited), ...standard, ...options.env }
  const defined = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined))
  // Without the supervisor, but with the flags that it sets, so that tests and benches run the production
  // configuration.
  const program = [options.main ?? MAIN, '--db', options.directory, '--http-addr', options.address ?? '127.0.0.1:0']
  const args = [...gcFlags(), ...(options.nodeArgs ?? []), ...program, ...(options.args ?? [])]
  const user = options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }
  return spawn(options.execPath ?? process.execPath, args, { env: defined, stdio: ['ignore', 'pipe', 'pipe'], ...user })
}

function collectOutput(child: ChildProcess): () => string {
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8')
    stream?.on('data', (chunk: string) => {
      text += chunk
    })
  }
  return () => text
}

function readyAddressIn(printed: string): string | undefined {
  const [, text, json] = /^(?:ready on (\S+) after|\{.*"address":"([^"]+)".*"msg":"ready"\}$)/m.exec(printed) ?? []
  return text ?? json
}

async function untilReady(child: ChildProcess, printed: () => string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const check = (): void => {
      if (readyAddressIn(printed()) !== undefined) settle(resolve)
    }
    const fail = (): void => settle(() => reject(new Error(`the server did not start:\n${printed()}`)))
    const late = setTimeout(() => {
      child.kill('SIGKILL')
      fail()
    }, START_MS_MAX)
    const settle = (done: () => void): void => {
      clearTimeout(late)
      child.stdout?.off('data', check)
      child.off('close', fail)
      done()
    }
    child.stdout?.on('data', check)
    child.on('close', fail)
  })
}

function surfaceAddress(printed: string, surface: string): string {
  const [, text, json] = new RegExp(`\\b${surface} on (\\S+?)(?:,|$)|"${surface}":"([^"]+)"`, 'm').exec(printed) ?? []
  const address = text ?? json
  if (address === undefined) throw new Error(`no address of ${surface}:\n${printed}`)
  return address
}

interface Target {
  readonly host?: string
  readonly port?: number
  readonly socketPath?: string
}

function targetOf(address: string): Target {
  if (address.startsWith('unix:')) return { socketPath: address.slice('unix:'.length) }
  const at = address.lastIndexOf(':')
  const host = address.slice(0, at).replace(/^\[|\]$/g, '')
  return { host: host === '' ? '127.0.0.1' : host, port: Number(address.slice(at + 1)) }
}

function send(
  options: Target & { readonly agent: Agent; readonly method: string; readonly path: string },
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<TestResponse> {
  const bytes = bytesOf(body)
  const length = bytes === undefined ? {} : { 'content-length': String(bytes.length), 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const ask = options.agent instanceof TlsAgent ? httpsRequest : httpRequest
    const request = ask({ ...options, headers: { ...length, ...headers } }, (response) => {
      const chunks: Buffer[] = []
      const finish = (): void => {
        const received = Buffer.concat(chunks)
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: received,
          text: received.toString('utf8'),
          json: <T>() => JSON.parse(received.toString('utf8')) as T,
        })
      }
      // Of an answer without an end, the head is the answer.
      if (response.headers['content-type'] === 'text/event-stream') {
        response.on('error', () => undefined)
        response.destroy()
        return finish()
      }
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', finish)
    })
    request.on('error', reject)
    request.end(bytes)
  })
}

function bytesOf(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined
  if (Buffer.isBuffer(body)) return body
  if (body instanceof Uint8Array) return Buffer.from(body)
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}
