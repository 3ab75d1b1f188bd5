/**
 * `mds add`, `delete`, `backup`, `restore` and `vector-reindex` against the real server, in separate
 * processes: clients.md, "Go client / mddb-cli". Every error is one line and exit code 1.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { embeddingEnv } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer } from '../../harness/embedding/embedding_server.js'
import { spawn } from '../../harness/process/owned_processes.js'
import { type Server, startServer } from '../../harness/server/server.js'

function findRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : findRoot(dirname(folder))
}
const root = findRoot(dirname(fileURLToPath(import.meta.url)))

interface Run {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

describe('requests of the command mds to a server', () => {
  let server: Server
  let provider: EmbeddingServer
  const folder = mkdtempSync(join(tmpdir(), 'mds-cli-server-'))
  before(async () => {
    provider = await EmbeddingServer.start()
    server = await startServer({ env: embeddingEnv(provider) })
  })
  after(async () => {
    await server.stop()
    await provider.stop()
    rmSync(folder, { recursive: true })
  })

  const mds = async (args: readonly string[], input?: string | Buffer): Promise<Run> => {
    const env = { ...process.env, MDS_URL: server.url }
    const child = spawn(process.execPath, [join(root, 'bin', 'mds.mjs'), ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] })
    const output = { stdout: '', stderr: '' }
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8')
      child[stream].on('data', (text: string) => (output[stream] += text))
    }
    // A command that refuses its arguments may end without reading its input.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
    return { code, ...output }
  }
  const succeeds = async (args: readonly string[], input?: string): Promise<string> => {
    const { code, stdout, stderr } = await mds(args, input)
    assert.deepEqual([code, stderr], [0, ''], args.join(' '))
    return stdout
  }
  const fails = async (args: readonly string[], line: RegExp, input?: string | Buffer): Promise<void> => {
    const { code, stdout, stderr } = await mds(args, input)
    assert.deepEqual([code, stdout], [1, ''], args.join(' '))
    assert.match(stderr, /^mds: [^\n]+\n$/u, args.join(' '))
    assert.match(stderr, line, args.join(' '))
  }
  const get = async (key: string, lang = 'en'): Promise<Record<string, unknown>> =>
    (await server.post('/v1/get', { collection: 'c', key, lang })).json()

  it('mds add: content from a file or standard input, byte for byte, with metadata as k=v1|v2,k2=v and an expiry', async () => {
    const file = join(folder, 'text.md')
    const text = '\uFEFF# Title\r\n\u{1F600} no newline at the end'
    writeFileSync(file, text)
    assert.equal(await succeeds(['add', 'c', 'k', 'de', '-f', file, '-m', 'tags=a|b,title=An = sign']), 'c|k|de stored\n')
    const { contentMd, meta } = await get('k', 'de')
    assert.equal(contentMd, text)
    assert.deepEqual(meta, { tags: ['a', 'b'], title: ['An = sign'] })
    assert.equal(await succeeds(['add', 'c', 'piped'], 'from stdin'), 'c|piped|en stored\n')
    const answer = JSON.parse(await succeeds(['add', 'c', 'piped', '--ttl', '3600', '--json'], 'again')) as Record<string, number>
    assert.ok((answer.expiresAt as number) > Date.now() / 1000 + 3000)
    assert.equal((await get('piped')).contentMd, 'again')
  })

  it('mds add: a missing, binary or too large file, a folder, and invalid metadata are one line and exit code 1', async () => {
    await fails(['add', 'c', 'x', '-f', join(folder, 'absent')], /cannot read .*absent: ENOENT/u)
    await fails(['add', 'c', 'x', '-f', folder], /cannot read .*: EISDIR/u)
    await fails(['add', 'c', 'x'], /standard input is not UTF-8 text/u, Buffer.from([0x61, 0xff]))
    const large = join(folder, 'large')
    writeFileSync(large, '')
    truncateSync(large, 32 * 1024 * 1024 + 1)
    await fails(['add', 'c', 'x', '-f', large], /larger than \d+ bytes/u)
    await fails(['add', 'c', 'x', '-m', 'novalue'], /"novalue" is no metadata/u, 'x')
    await fails(['add', 'c', 'x', '-m', 'a=1,a=2'], /stands twice/u, 'x')
    await fails(['add', '', 'x'], /missing fields \(.*collection.*\)/u, 'x')
    assert.equal((await server.post('/v1/get', { collection: 'c', key: 'x', lang: 'en' })).status, 404)
  })

  it('mds delete: the document is gone; one that is not there is a line and exit code 1', async () => {
    await succeeds(['add', 'c', 'gone', 'de'], 'text')
    await fails(['delete', 'c', 'gone'], /not found/u)
    assert.equal(await succeeds(['delete', 'c', 'gone', 'de']), 'deleted\n')
    await fails(['delete', 'c', 'gone', 'de'], /not found/u)
  })

  it('mds backup and restore: made, listed, restored, deleted', async () => {
    await succeeds(['add', 'c', 'kept'], 'before')
    assert.equal(await succeeds(['backup', 'one.db']), 'backup one.db\n')
    assert.match(await succeeds(['backup']), /^backup backup-\d{10}\.db\n$/u)
    await succeeds(['add', 'c', 'kept'], 'after')
    const listed = await succeeds(['backup', '--list'])
    assert.match(listed, /^name +size +made$/mu)
    assert.match(listed, /^one\.db +\d+\.\d MB +\d{4}-\d\d-\d\dT[\d:.]+Z$/mu)
    assert.equal((JSON.parse(await succeeds(['backup', '--list', '--json'])) as { total: number }).total, 2)
    assert.equal(await succeeds(['restore', 'one.db']), 'restored one.db\n')
    assert.equal((await get('kept')).contentMd, 'before')
    assert.equal(await succeeds(['backup', '--delete', 'one.db']), 'deleted one.db\n')
    assert.doesNotMatch(await succeeds(['backup', '--list']), /one\.db/u)
    await fails(['backup', '--delete', 'one.db'], /not found/u)
    await fails(['backup', '--delete', '../../etc/passwd'], /invalid name/u)
    await fails(['backup', '../x'], /invalid to/u)
    await fails(['backup', 'name', '--list'], /one of them/u)
    await fails(['restore', 'one.db'], /restore failed: backup one\.db is not there/u)
    await fails(['restore', 'one.db', '-u', 'http://127.0.0.1:1'], /no answer from http:\/\/127\.0\.0\.1:1: /u)
  })

  it('mds vector-reindex: says how many were embedded; documents that could not be are named, and exit code 1', async () => {
    await succeeds(['add', 'vectors', 'one'], 'text')
    await succeeds(['vector-reindex', 'vectors', '--force'])
    assert.equal(await succeeds(['vector-reindex', 'vectors']), '0 embedded, 1 skipped, 0 failed\n')
    assert.equal(await succeeds(['vector-reindex', 'vectors', '--force']), '1 embedded, 0 skipped, 0 failed\n')
    assert.deepEqual((JSON.parse(await succeeds(['vector-reindex', 'vectors', '--json'])) as { errors: unknown }).errors, [])
    await fails(['vector-reindex', ''], /missing fields/u)
    const bare = await startServer()
    try {
      await fails(['vector-reindex', 'vectors', '-u', bare.url], /no embedding provider configured/u)
    } finally {
      await bare.stop()
    }
  })

  it('mds: --help names the commands', async () => {
    const help = await succeeds(['--help'])
    for (const command of ['add', 'delete', 'backup', 'restore', 'vector-reindex'])
      assert.match(help, new RegExp(`^ {2}${command}\\b`, 'mu'))
  })
})
