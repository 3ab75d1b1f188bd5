/** `mds init`, `login`, `user`, `key`, `grant` with a real server, in separate processes: issue 18, "CLI". */
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { credentialHeaders } from '../../../src/cli/credentials.js'
import { CommandError } from '../../../src/cli/terminal.js'
import { spawn } from '../../harness/process/owned_processes.js'
import { type Server, startServer } from '../../harness/server/server.js'

function findRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : findRoot(dirname(folder))
}
const program = join(findRoot(dirname(fileURLToPath(import.meta.url))), 'bin', 'mds.mjs')
const ALICE = 'the password of alice'

interface Run {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}
interface MdsOptions {
  readonly input?: string
  /** Whose credentials file is used. */
  readonly user?: string
  readonly env?: Readonly<Record<string, string>>
}

describe('access control by the command mds', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mds-cli-access-'))
  const config = join(folder, 'mds.yaml')
  let server: Server | undefined
  let init: Run
  let password = ''
  let secret = ''
  before(async () => {
    init = await mds(['init', '--config', config])
    const text = existsSync(config) ? readFileSync(config, 'utf8') : ''
    password = /adminPassword: "(.*)"/u.exec(text)?.[1] ?? ''
    secret = /jwtSecret: "(.*)"/u.exec(text)?.[1] ?? ''
    // Cheap hashes, as what is tested is not their cost.
    server = await startServer({ args: ['--config', config], env: { SVC_LIMIT_BCRYPT_COST: '4' } })
    assert.equal((await mds(['login'], { input: `${password}\n` })).code, 0)
  })
  after(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true })
  })

  const mds = async (args: readonly string[], { input = '', user = 'admin', env = {} }: MdsOptions = {}): Promise<Run> => {
    const own = { MDS_URL: server?.url ?? '', MDS_CREDENTIALS_FILE: join(folder, `${user}.json`) }
    const child = spawn('sh', ['-c', 'umask 000; exec "$0" "$@"', process.execPath, program, ...args], {
      env: { ...process.env, ...own, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const output = { stdout: '', stderr: '' }
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8')
      child[stream].on('data', (text: string) => (output[stream] += text))
    }
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
    return { code, ...output }
  }
  const succeeds = async (args: readonly string[], options: MdsOptions = {}): Promise<string> => {
    const { code, stdout, stderr } = await mds(args, options)
    assert.deepEqual([code, stderr], [0, ''], args.join(' '))
    return stdout
  }
  const fails = async (args: readonly string[], line: RegExp, options: MdsOptions = {}): Promise<void> => {
    const { code, stdout, stderr } = await mds(args, options)
    assert.deepEqual([code, stdout], [1, ''], args.join(' '))
    assert.match(stderr, /^mds: [^\n]+\n$/u, args.join(' '))
    assert.match(stderr, line, args.join(' '))
  }
  const modeOf = (path: string): number => statSync(path).mode & 0o777
  const userExists = async (name: string): Promise<string> => {
    await succeeds(['user', 'add', name], { input: `${ALICE}\n` })
    await succeeds(['login', '--username', name], { input: `${ALICE}\n`, user: name })
    return name
  }

  it('mds init: a server starts with the file, and its password of 24 characters logs in; an existing file is kept', async () => {
    assert.match(password, /^[A-Za-z0-9]{24}$/u)
    assert.ok(Buffer.from(secret, 'base64url').length >= 32)
    const other = join(folder, 'other.yaml')
    await succeeds(['init', '--config', other])
    const text = readFileSync(other, 'utf8')
    assert.ok(!text.includes(password) && !text.includes(secret))
    await fails(['init', '--config', other], /exists already/u)
    assert.equal(readFileSync(other, 'utf8'), text)
    assert.match(await succeeds(['user', 'list']), /^admin +admin$/mu)
  })

  it('mds init: the file has mode 0600, with a umask that would open it', () => {
    assert.equal(modeOf(config), 0o600)
  })

  it('mds init: shows the file and the next commands, not the password or the secret', () => {
    assert.equal(init.code, 0)
    assert.match(init.stdout, /mds\.yaml.*mds serve --config .*mds login/su)
    for (const hidden of [password, secret]) assert.ok(!`${init.stdout}${init.stderr}`.includes(hidden))
  })

  it('mds login and logout: a token is stored, used and removed; a wrong password is one line with code 1', async () => {
    const user = 'visitor'
    await fails(['user', 'list'], /log in with `mds login`/u, { user })
    await fails(['login'], /user or password is wrong/u, { user, input: 'wrong\n' })
    await fails(['login'], /a password is needed/u, { user })
    assert.match(await succeeds(['login'], { user, env: { MDS_PASSWORD: password } }), /^logged in as admin/u)
    await succeeds(['user', 'list'], { user })
    assert.equal(await succeeds(['logout'], { user }), 'logged out\n')
    await fails(['user', 'list'], /log in with `mds login`/u, { user })
  })

  it('mds user: added, listed, disabled, enabled, given a password, deleted', async () => {
    const user = await userExists('bob')
    await succeeds(['user', 'disable', 'bob'])
    assert.match(await succeeds(['user', 'list']), /^bob +disabled$/mu)
    await fails(['key', 'list'], /log in/u, { user })
    await succeeds(['user', 'enable', 'bob'])
    await succeeds(['login', '--username', 'bob'], { input: ALICE, user })
    await succeeds(['user', 'password'], { input: `${ALICE}\nof his own\n`, user })
    await succeeds(['login', '--username', 'bob'], { input: 'of his own', user })
    await succeeds(['user', 'password', 'bob'], { env: { MDS_NEW_PASSWORD: 'of the administrator' } })
    await fails(['login', '--username', 'bob'], /wrong/u, { input: 'of his own', user })
    await succeeds(['user', 'delete', 'bob'])
    const { users } = JSON.parse(await succeeds(['user', 'list', '--json'])) as { users: { username: string }[] }
    assert.ok(!users.some(({ username }) => username === 'bob'))
  })

  it('mds grant and revoke: a user reads and does not write, from the next request on; by group, too', async () => {
    const user = await userExists('reader')
    await succeeds(['add', 'blog', 'k'], { input: 'text' })
    const get = ['get', 'blog', 'k', '--content']
    await fails(get, /mds grant/u, { user })
    await fails(['grant', 'nobody', 'blog', '--read'], /not found/u)
    await fails(['grant', 'reader', 'blog'], /is needed/u)
    await succeeds(['grant', 'reader', 'blog', '--read'])
    assert.equal(await succeeds(get, { user }), 'text')
    await fails(['add', 'blog', 'k'], /mds grant/u, { user, input: 'other' })
    await succeeds(['revoke', 'reader', 'blog'])
    await fails(get, /mds grant/u, { user })
    await succeeds(['group', 'add', 'readers', 'reader'])
    await succeeds(['grant', '--group', 'readers', 'blog', '--read', '--write'])
    assert.equal(await succeeds(get, { user }), 'text')
    assert.match(await succeeds(['group', 'list']), /^readers +reader$/mu)
    await succeeds(['group', 'members', 'readers'])
    await fails(get, /mds grant/u, { user })
    await succeeds(['group', 'delete', 'readers'])
    assert.equal(await succeeds(['group', 'list']), 'no groups\n')
  })

  it('mds key: printed once, with an end, imports, listed and deleted', async () => {
    const key = (await succeeds(['key', 'create', '--description', 'nightly', '--expires', '90d'])).trim()
    assert.match(key, /^svc_live_[0-9a-f]{48}$/u)
    const listed = await succeeds(['key', 'list', '--json'])
    assert.ok(!listed.includes(key))
    const [stored] = (JSON.parse(listed) as { keys: { keyHash: string; description: string; expiresAt: number }[] }).keys
    assert.equal(stored?.description, 'nightly')
    assert.ok(Math.abs(stored.expiresAt - Date.now() / 1000 - 90 * 86_400) < 600)
    const lines = join(folder, 'lines.ndjson')
    writeFileSync(lines, `${JSON.stringify({ key: 'imported', lang: 'en', contentMd: 'by key' })}\n`)
    const visitor = { user: 'keys', env: { MDS_API_KEY: key, XDG_STATE_HOME: folder } }
    assert.equal((await mds(['import', lines, '-c', 'blog'], visitor)).code, 0)
    assert.equal(await succeeds(['get', 'blog', 'imported', '--content'], visitor), 'by key')
    await fails(['key', 'create', '--expires', 'soon'], /such as 12h or 90d/u)
    await succeeds(['key', 'delete', stored.keyHash])
    await fails(['get', 'blog', 'imported'], /log in/u, visitor)
  })

  it('credentials: MDS_TOKEN goes before the credentials file', async () => {
    const { token } = tokenIn(join(folder, 'admin.json'), server?.url)
    await succeeds(['user', 'list'], { user: 'none', env: { MDS_TOKEN: token } })
    await fails(['user', 'list'], /log in/u, { env: { MDS_TOKEN: 'wrong' } })
  })

  it('credentials: an environment variable that can be no credential is named and not shown', async () => {
    for (const name of ['MDS_TOKEN', 'MDS_API_KEY']) {
      const message = `${name} has characters that no credential has`
      for (const end of ['\n', '\nx', 'é', ' y'])
        assert.throws(() => credentialHeaders('http://127.0.0.1', { [name]: `hidden${end}` }), new CommandError(message))
      const { code, stdout, stderr } = await mds(['user', 'list'], { user: 'none', env: { [name]: 'hidden\n' } })
      assert.deepEqual([code, stdout, stderr], [1, '', `mds: ${message}\n`])
    }
  })

  it('credentials file: mode 0600; one that others can read is refused; a token goes to no other server', async () => {
    const path = join(folder, 'admin.json')
    assert.equal(modeOf(path), 0o600)
    chmodSync(path, 0o640)
    try {
      await fails(['user', 'list'], /chmod 600/u)
    } finally {
      chmodSync(path, 0o600)
    }
    const seen: unknown[] = []
    const other = createServer((request, response) => {
      seen.push([request.headers.authorization, request.headers['x-api-key']])
      response.writeHead(302, { location: `${server?.url}/v1/stats` }).end()
    }).listen(0, '127.0.0.1')
    try {
      await new Promise((resolve) => other.once('listening', resolve))
      const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
      await fails(['user', 'list', '--url', url], /status 302/u)
      assert.deepEqual(seen, [[undefined, undefined]])
    } finally {
      other.close()
    }
  })

  it('passwords are in no output and not among the arguments, and no option takes one', async () => {
    const env = { MDS_PASSWORD: 'a wrong secret' }
    const refused = await mds(['login'], { env })
    const accepted = await mds(['login'], { input: password })
    const { token } = tokenIn(join(folder, 'admin.json'), server?.url)
    for (const { stdout, stderr } of [refused, accepted])
      for (const hidden of [password, env.MDS_PASSWORD, token]) assert.ok(!`${stdout}${stderr}`.includes(hidden))
    assert.notEqual((await mds(['login', '--password', password])).code, 0)
    const child = spawn(process.execPath, [program, 'login'], { env: { ...process.env, ...env, MDS_URL: server?.url }, stdio: 'ignore' })
    const shown = readFileSync(`/proc/${child.pid}/cmdline`, 'utf8')
    await new Promise((resolve) => child.on('close', resolve))
    assert.ok(!shown.includes(env.MDS_PASSWORD))
  })
})

function tokenIn(path: string, url = ''): { readonly token: string } {
  const { servers } = JSON.parse(readFileSync(path, 'utf8')) as { servers: Record<string, { token: string }> }
  return servers[url] as { token: string }
}
