/**
 * The certificate of a server that runs is replaced: by a change of the files, in whichever way tools replace
 * them, and by SIGHUP. No request fails, and a pair that does not match changes nothing.
 */
import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { CertificateAuthority, LACKS_OPENSSL, type Pair, textsOf } from '../../harness/clients/certificates.js'
import { askOnce } from '../../harness/clients/tls_client.js'
import { untilAsked } from '../../harness/process/until.js'
import { type Server, type ServerOptions, startServer } from '../../harness/server/server.js'

const skip = LACKS_OPENSSL
if (skip !== false) console.error(`SKIPPED: renewal of certificates, because ${skip}`)
/** Clients that each send one request after another. */
const CLIENTS = 3

let folder: string
let ca: CertificateAuthority
let first: Pair
let second: Pair
let client: Pair
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'mds-renewal-'))
  if (skip !== false) return
  ca = new CertificateAuthority(folder)
  first = ca.sign('first')
  second = ca.sign('second')
  client = ca.sign('client')
})
after(() => rmSync(folder, { recursive: true, force: true }))

const own = (): { readonly ca: Buffer; readonly cert: Buffer; readonly key: Buffer } => ({ ...ca.trust, ...textsOf(client) })

let folders = 0
function newFolder(): string {
  const path = join(folder, `files-${++folders}`)
  mkdirSync(path)
  return path
}

function copy(from: Pair, to: Pair): void {
  copyFileSync(from.cert, to.cert)
  copyFileSync(from.key, to.key)
}

/** Replaces both files by a rename, as tools do that write to a temporary file first. */
function rename(from: Pair, to: Pair): void {
  copy(from, { cert: `${to.cert}.new`, key: `${to.key}.new` })
  renameSync(`${to.cert}.new`, to.cert)
  renameSync(`${to.key}.new`, to.key)
}

const filesIn = (path: string): Pair => ({ cert: join(path, 'tls.crt'), key: join(path, 'tls.key') })
/** Ended after the test, so that a test that fails ends, too. */
async function start(test: TestContext, { cert, key }: Pair, options: ServerOptions = {}): Promise<Server> {
  const env = { SVC_TLS_ENABLED: 'true', SVC_TLS_CERT: cert, SVC_TLS_KEY: key, ...options.env }
  const server = await startServer({ ...options, env, tls: own() })
  test.after(() => server.kill())
  return server
}
const untilServedBy = (server: Server, name: string): Promise<unknown> =>
  untilAsked(
    () => askOnce(server.port, own()),
    (answer) => answer.server === name,
  )
const portOf = (server: Server, surface: string): number => Number(server.addressOf(surface).split(':').at(-1))
const count = (server: Server, pattern: RegExp): number => [...server.output().matchAll(pattern)].length

describe('a certificate is replaced', { skip }, () => {
  const listeners = [
    { name: 'one loop', loops: '1', env: (): Record<string, string> => ({}) },
    {
      name: 'three loops',
      loops: '3',
      env: (): Record<string, string> => ({ SVC_TLS_CLIENT_CA: ca.cert, SVC_TLS_CLIENT_AUTH: 'request' }),
    },
    { name: 'the gate', loops: '2', env: (): Record<string, string> => ({ SVC_TLS_CLIENT_CA: ca.cert, SVC_TLS_CLIENT_AUTH: 'require' }) },
  ]
  for (const { name, loops, env } of listeners) {
    it(`tls renewal: no request fails while the pair is replaced under load, on every loop (${name})`, async (test) => {
      const files = filesIn(newFolder())
      copy(first, files)
      const server = await start(test, files, { env: env(), args: ['--http-loops', loops] })
      const load = new Load(server.port)
      test.after(() => load.end())
      const renewals = 4
      for (let at = 0; at < renewals; at++) {
        const next = at % 2 === 0 ? second : first
        rename(next, files)
        if (at % 3 === 2) process.kill(server.pid, 'SIGHUP')
        const served = load.answered
        await untilServedBy(server, at % 2 === 0 ? 'second' : 'first')
        // Each loop accepts some of these.
        const later = await Promise.all(Array.from({ length: 24 }, () => askOnce(server.port, own())))
        assert.deepEqual(
          [...new Set(later.map((answer) => `${answer.status} ${answer.server}`))],
          [`200 ${at % 2 === 0 ? 'second' : 'first'}`],
        )
        await untilAsked(
          () => Promise.resolve(load.answered),
          (answered) => answered > served + 100,
        )
      }
      const { answered, failures } = await load.end()
      assert.deepEqual(failures, [], `${failures.length} of ${answered} requests`)
      assert.equal(count(server, / info TLS: new certificate path=\S+tls\.crt expires=\S+$/gm), renewals)
      assert.equal(await server.stop(), 0, server.output())
    })
  }

  it('tls renewal: a pair that does not match changes nothing but one line of the log, until it does', async (test) => {
    const files = filesIn(newFolder())
    copy(first, files)
    const server = await start(test, files)
    rename({ cert: second.cert, key: first.key }, files)
    const refused =
      / error TLS: the certificate stays as it is: SVC_TLS_KEY \S+tls\.key is not the key of the certificate in \S+tls\.crt$/gm
    await untilAsked(
      () => Promise.resolve(count(server, refused)),
      (lines) => lines === 1,
    )
    assert.equal((await askOnce(server.port, own())).server, 'first')
    process.kill(server.pid, 'SIGHUP')
    await untilAsked(
      () => Promise.resolve(count(server, refused)),
      (lines) => lines === 2,
    )
    rmSync(files.key)
    await untilAsked(
      () => Promise.resolve(count(server, / error TLS: the certificate stays as it is: SVC_TLS_KEY \S+tls\.key can't be read: ENOENT$/gm)),
      (lines) => lines === 1,
    )
    assert.equal((await askOnce(server.port, own())).server, 'first')
    rename(second, files)
    await untilServedBy(server, 'second')
    assert.equal(await server.stop(), 0)
  })

  it('tls renewal: a symbolic link to a folder that is replaced, as of mounted secrets, is followed', async (test) => {
    const mount = newFolder()
    for (const [name, pair] of [
      ['..1', first],
      ['..2', second],
    ] as const) {
      mkdirSync(join(mount, name))
      copy(pair, filesIn(join(mount, name)))
    }
    symlinkSync('..1', join(mount, '..data'))
    const files = filesIn(mount)
    symlinkSync('..data/tls.crt', files.cert)
    symlinkSync('..data/tls.key', files.key)
    const server = await start(test, files)
    symlinkSync('..2', join(mount, '..new'))
    renameSync(join(mount, '..new'), join(mount, '..data'))
    await untilServedBy(server, 'second')
    // A file in the folder that is used now, written in place.
    copy(first, filesIn(join(mount, '..2')))
    await untilServedBy(server, 'first')
    assert.equal(await server.stop(), 0)
  })

  it('tls renewal: SIGHUP to a supervisor reads the files, and the same pair is not a new one', async (test) => {
    const files = filesIn(newFolder())
    copy(first, files)
    const server = await start(test, files, { supervisor: true })
    process.kill(server.pid, 'SIGHUP')
    await untilAsked(
      () => Promise.resolve(server.output()),
      (output) => output.includes('SIGHUP: nothing has changed'),
    )
    assert.equal(count(server, /TLS: /g), 0)
    rename(second, files)
    process.kill(server.pid, 'SIGHUP')
    await untilServedBy(server, 'second')
    assert.equal(await server.stop(), 0)
  })

  it('tls renewal: the ports of gRPC and MCP have the new pair, too', async (test) => {
    const files = filesIn(newFolder())
    copy(first, files)
    const server = await start(test, files)
    const names = async (): Promise<readonly string[]> => {
      const [grpc, mcp] = [portOf(server, 'grpc'), portOf(server, 'mcp')]
      const answers = await Promise.all([askOnce(grpc, { ...own(), ALPNProtocols: ['h2'] }), askOnce(mcp, own())])
      return answers.map((answer) => answer.server)
    }
    // The threads start with these connections.
    assert.deepEqual(await names(), ['first', 'first'])
    rename(second, files)
    await untilAsked(names, (found) => found.every((name) => name === 'second'))
    assert.equal(await server.stop(), 0)
  })

  it('tls renewal: a client CA is replaced, and clients of the former one are refused', async (test) => {
    const files = filesIn(newFolder())
    copy(first, files)
    const authorities = `${files.cert}.ca`
    copyFileSync(ca.cert, authorities)
    const other = new CertificateAuthority(folder, 'next-ca')
    const next = { ...ca.trust, ...textsOf(other.sign('next-client')) }
    for (const how of ['require', 'request']) {
      copyFileSync(ca.cert, authorities)
      const server = await start(test, files, {
        env: { SVC_TLS_CLIENT_CA: authorities, SVC_TLS_CLIENT_AUTH: how },
        args: ['--http-loops', '2'],
      })
      assert.equal((await askOnce(server.port, own())).status, 200)
      assert.equal((await askOnce(server.port, next)).status, 0)
      writeFileSync(authorities, other.trust.ca)
      await untilAsked(
        () => askOnce(server.port, next),
        ({ status }) => status === 200,
      )
      await untilAsked(
        () => askOnce(server.port, own()),
        ({ status }) => status === 0,
      )
      assert.equal(await server.stop(), 0)
    }
  })
})

/** Clients that send requests until they are stopped. Half of them open a connection for each request. */
class Load {
  answered = 0
  readonly #failures: string[] = []
  readonly #port: number
  readonly #clients: readonly Promise<void>[]
  #isOver = false

  constructor(port: number) {
    this.#port = port
    this.#clients = Array.from({ length: CLIENTS }, (_, at) => this.#run(at % 2 === 0))
  }

  async end(): Promise<{ readonly answered: number; readonly failures: readonly string[] }> {
    this.#isOver = true
    await Promise.all(this.#clients)
    return { answered: this.answered, failures: this.#failures }
  }

  async #run(keepAlive: boolean): Promise<void> {
    const agent = new Agent({ keepAlive, maxSockets: 1, maxCachedSessions: 0, ...own() })
    while (!this.#isOver) await this.#ask(agent)
    agent.destroy()
  }

  #ask(agent: Agent): Promise<void> {
    return new Promise((resolve) => {
      const asked = request({ host: '127.0.0.1', port: this.#port, path: '/health', agent }, (answer) => {
        answer.on('end', () => {
          this.answered++
          if (answer.statusCode !== 200) this.#failures.push(`status ${answer.statusCode}`)
          resolve()
        })
        answer.resume()
      })
      asked.on('error', (error) => {
        this.#failures.push(error.message)
        resolve()
      })
      asked.end()
    })
  }
}
