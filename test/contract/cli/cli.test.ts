/**
 * The command line against the real server, in separate processes: documents sent by `mds import` are
 * readable back byte for byte, and errors are shown to users.
 */
import assert from 'node:assert/strict'
import { createReadStream, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createGunzip } from 'node:zlib'
import { splitLines } from '../../../src/cli/files/line_splitter.js'
import { spawn } from '../../harness/process/owned_processes.js'
import type { Server } from '../../harness/server/server.js'
import { startServer } from '../../harness/server/server.js'

function findRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : findRoot(dirname(folder))
}
const root = findRoot(dirname(fileURLToPath(import.meta.url)))
const corpus = join(root, '..', 'shared', 'corpora', 'md', 'tldr_multilang.ndjson.gz')

interface Run {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

let server: Server
let folder: string

/**
 * `bin/mds.mjs` runs the compiled code of `dist`, which is the code under test when the tests run from there.
 */
async function mds(...args: readonly string[]): Promise<Run> {
  const env = { ...process.env, MDS_URL: server.url, XDG_STATE_HOME: join(folder, 'state') }
  const child = spawn(process.execPath, [join(root, 'bin', 'mds.mjs'), ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8')
    child[stream].on('data', (text: string) => (output[stream] += text))
  }
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { code, ...output }
}

async function read(
  collection: string,
  key: string,
  lang = 'en',
): Promise<{ status: number; contentMd: string; meta: Record<string, string[]> }> {
  const response = await server.post('/v1/get', { collection, key, lang })
  return { status: response.status, ...response.json<{ contentMd: string; meta: Record<string, string[]> }>() }
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mds-cli-contract-'))
  server = await startServer()
})
after(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

describe('mds import of a folder', () => {
  const files: Readonly<Record<string, string>> = {
    'index.md': '---\ntitle: Start\ntags: [a, b]\nfaq:\n  - question: Why?\n---\n# Welcome\r\n\r\nUmlauts äöü, 日本語, \u{1F600}.\n',
    'guide/install.md': '# Install\n\n```sh\nnpm start\n```\n\n%%name%% stays, "quotes" and \\backslashes\\ too.\t\n',
    'guide/deep/empty.md': '',
    'guide/no newline.markdown': '\uFEFFA byte order mark, and no newline at the end',
    'broken.md': '---\ntitle: [\n---\nThe text counts.\n',
  }

  it('every document is readable back byte for byte, found at once, and the run says so', async () => {
    const tree = join(folder, 'tree')
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(tree, path)), { recursive: true })
      writeFileSync(join(tree, path), text)
    }
    const run = await mds('import', tree, '--collection', 'docs', '--lang', 'en_GB')
    assert.equal(run.code, 0, run.stderr)
    assert.match(run.stdout, /^5 added, 0 updated, 0 failed in /)
    assert.match(run.stderr, /imported without metadata:\n {2}broken\.md: frontmatter: /)
    for (const [path, text] of Object.entries(files)) {
      const document = await read('docs', path.replace(/\.\w+$/, ''), 'en_GB')
      assert.equal(document.status, 200, path)
      assert.deepEqual(Buffer.from(document.contentMd), Buffer.from(text), path)
    }
    assert.deepEqual((await read('docs', 'index', 'en_GB')).meta, { title: ['Start'], tags: ['a', 'b'], 'faq.0.question': ['Why?'] })
    const found = await mds('search', 'docs', 'welcome')
    assert.match(found.stdout, /\bindex\b.*\bStart\b/)
  })

  it('a second import with --all updates, and keeps when each was added', async () => {
    const before = (await server.post('/v1/get', { collection: 'docs', key: 'index', lang: 'en_GB' })).json<{ addedAt: number }>()
    const run = await mds(
      'import',
      join(folder, 'tree'),
      '--collection',
      'docs',
      '--lang',
      'en_GB',
      '--batch',
      '2',
      '--concurrency',
      '1',
      '--all',
    )
    assert.match(run.stdout, /^0 added, 5 updated, 0 failed in /)
    const later = (await server.post('/v1/get', { collection: 'docs', key: 'index', lang: 'en_GB' })).json<{ addedAt: number }>()
    assert.equal(later.addedAt, before.addedAt)
  })
})

describe('mds import of NDJSON', () => {
  it('bad documents are reported one by one, the others are stored, and the exit code is not 0', async () => {
    const lines = [
      { key: 'good', contentMd: 'one' },
      { key: 'x'.repeat(1025), contentMd: 'key too long' },
      { key: 'bad-meta', contentMd: 'x', meta: { a: { b: 'c' } } },
      { key: 'also-good', contentMd: 'two', meta: { a: ['b'] } },
    ]
    const file = join(folder, 'some.ndjson')
    writeFileSync(file, `${lines.map((line) => JSON.stringify(line)).join('\n')}\n{broken\n`)
    const run = await mds('import', file, '-c', 'some')
    assert.equal(run.code, 1)
    assert.match(run.stdout, /^2 added, 0 updated, 3 failed in /)
    assert.match(run.stderr, /not imported:\n/)
    assert.match(run.stderr, /line 5: invalid JSON/)
    assert.equal((await read('some', 'good')).contentMd, 'one')
    assert.equal((await read('some', 'also-good')).contentMd, 'two')
    assert.equal((await read('some', 'bad-meta')).status, 404)
  })

  it(
    'real documents in many languages are readable back byte for byte',
    { skip: existsSync(corpus) ? false : `SKIPPED, no corpus at ${corpus}` },
    async () => {
      const run = await mds('import', corpus, '-c', 'tldr')
      assert.equal(run.code, 0, run.stderr)
      let count = 0
      for await (const { bytes } of splitLines(createReadStream(corpus).pipe(createGunzip()), 1 << 20)) {
        const line = JSON.parse(bytes?.toString() ?? '') as { key: string; lang: string; contentMd: string; meta: Record<string, string[]> }
        const document = await read('tldr', line.key, line.lang)
        assert.equal(document.contentMd, line.contentMd, line.key)
        assert.deepEqual(document.meta, line.meta, line.key)
        count += 1
      }
      assert.ok(count > 1000)
      assert.match(run.stdout, new RegExp(`^${count} added, 0 updated, 0 failed`))
    },
  )
})

describe('mds import of nothing', () => {
  it('a folder or file without documents is reported; the exit code is that of a success', async () => {
    const empty = join(folder, 'nothing')
    mkdirSync(join(empty, 'deep'), { recursive: true })
    writeFileSync(join(empty, 'deep', 'notes.doc'), 'no format')
    const file = join(folder, 'nothing.ndjson')
    writeFileSync(file, '\n\n')
    for (const path of [empty, file]) {
      const run = await mds('import', path, '-c', 'none')
      assert.equal(run.code, 0)
      assert.match(run.stdout, /^0 added, 0 updated, 0 failed in /)
      assert.equal(run.stderr, `mds import: nothing was found to import in ${path}\n`)
    }
  })

  it('a folder of several formats is imported as markdown, and a file that can not be is named with the reason', async () => {
    const root = join(folder, 'formats')
    mkdirSync(root)
    writeFileSync(join(root, 'page.html'), '<h1>Page</h1>')
    writeFileSync(join(root, 'bad.docx'), 'no zip')
    const run = await mds('import', root, '-c', 'formats')
    assert.equal(run.code, 1)
    assert.match(run.stdout, /^1 added, 0 updated, 1 failed in /)
    assert.match(run.stderr, /\n {2}bad\.docx: not converted: no readable docx: /)
    assert.equal((await mds('get', 'formats', 'page', '--content')).stdout, '# Page\n')
  })

  it('an import that finds something says no such thing, were all of it refused', async () => {
    const file = join(folder, 'refused.ndjson')
    writeFileSync(file, '{broken\n')
    const run = await mds('import', file, '-c', 'none')
    assert.equal(run.code, 1)
    assert.doesNotMatch(run.stderr, /nothing was found/)
  })
})

describe('mds, beside import', () => {
  it('get --content prints the markdown and nothing else', async () => {
    const text = '# T\n\nno newline at the end, \u{1F600}'
    await server.post('/v1/add', { collection: 'c', key: 'k', lang: 'en', contentMd: text })
    assert.equal((await mds('get', 'c', 'k', '--content')).stdout, text)
    assert.equal((JSON.parse((await mds('get', 'c', 'k')).stdout) as { key: string }).key, 'k')
  })

  it('stats names the collections', async () => {
    const { stdout } = await mds('stats')
    assert.match(stdout, /^collection +documents +revisions +metadata +checksum64$/m)
    assert.match(stdout, /^c +1 +1 +0 +[0-9a-f]{16}$/m)
    assert.equal((JSON.parse((await mds('stats', '--json')).stdout) as { mode: string }).mode, 'wr')
  })

  it('names and texts that would control a terminal, or turn a line around, are escaped in every output but the content', async () => {
    // An escape sequence, a C1 control, a right-to-left override, an isolate, a line separator.
    const evil = 'e\u009b31m\u202evil\u2067\u2028'
    const escaped = 'e\\u009b31m\\u202evil\\u2067\\u2028'
    const raw = /[\u0080-\u009f\u202e\u2067\u2028]/
    const plain = join(folder, 'plain.md')
    writeFileSync(plain, 'text')
    await server.post('/v1/add', { collection: evil, key: evil, lang: 'en', meta: { title: [evil] }, contentMd: `# ${evil} word` })
    const runs = await Promise.all([
      mds('stats'),
      mds('stats', '--json'),
      mds('search', evil, 'word'),
      mds('get', evil, evil),
      mds('add', evil, `${evil}2`, 'en', '--file', plain),
      mds('import', join(folder, evil), '-c', 'c'),
      mds('export', evil, '--git', plain),
    ])
    for (const { stdout, stderr } of runs) assert.doesNotMatch(stdout + stderr, raw)
    for (const { stdout, stderr } of runs.slice(0, 6)) assert.ok((stdout + stderr).includes(escaped), stdout + stderr)
    assert.equal((JSON.parse(runs[3]?.stdout ?? '') as { key: string }).key, evil)
  })

  it("an error is one line with the server's text, and exit code 1", async () => {
    const missing = await mds('get', 'c', 'nowhere')
    assert.deepEqual([missing.code, missing.stdout, missing.stderr.trim()], [1, '', 'mds: not found'])
    const nobody = await mds('stats', '--url', 'http://127.0.0.1:1')
    assert.equal(nobody.code, 1)
    assert.match(nobody.stderr, /^mds: no answer from http:\/\/127\.0\.0\.1:1: .+\n$/)
    const absent = await mds('import', join(folder, 'absent'), '-c', 'c')
    assert.equal(absent.code, 1)
    assert.match(absent.stderr, /^mds import: cannot read /)
  })

  it('wrong usage is refused before anything is sent', async () => {
    for (const args of [
      ['import', folder],
      ['import', folder, '-c', 'c', '--batch', '0'],
      ['get', 'c'],
      ['search', 'c', 'q', '--url', 'ftp://x'],
      ['bogus'],
    ]) {
      const run = await mds(...args)
      assert.equal(run.code, 1, args.join(' '))
      assert.match(run.stderr, /^error: /, args.join(' '))
    }
  })

  it('--help shows every command, and serve --help the options of the server', async () => {
    const { code, stdout } = await mds('--help')
    assert.equal(code, 0)
    for (const command of ['serve', 'import', 'search', 'get', 'stats']) assert.match(stdout, new RegExp(`^ {2}${command}\\b`, 'm'))
    assert.match((await mds('serve', '--help')).stdout, /--db/)
  })
})
