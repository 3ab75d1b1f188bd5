/**
 * `mds export --git` against the real server and the real git: each revision is a commit, the files are the
 * documents, an import of them produces the same documents, and the same history produces the same commits.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { DocumentsClient } from '../../harness/clients/documents_client.js'
import { spawn } from '../../harness/process/owned_processes.js'
import { SmallDisk } from '../../harness/process/small_disk.js'

/** An export that takes longer will never end. */
const EXPORT_MS_MAX = 60_000

function findRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : findRoot(dirname(folder))
}
const root = findRoot(dirname(fileURLToPath(import.meta.url)))

describe('export of a history', () => {
  let client: DocumentsClient
  let folder: string
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'mds-git-export-'))
    client = await DocumentsClient.shared()
  })
  after(async () => {
    await client.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const mds = async (
    args: readonly string[],
    env: NodeJS.ProcessEnv = {},
  ): Promise<{ code: number | null; stdout: string; stderr: string }> => {
    const child = spawn(process.execPath, [join(root, 'bin', 'mds.mjs'), ...args], {
      env: { ...process.env, MDS_URL: client.server.url, XDG_STATE_HOME: join(folder, 'state'), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: EXPORT_MS_MAX,
      killSignal: 'SIGKILL',
    })
    const output = { stdout: '', stderr: '' }
    for (const stream of ['stdout', 'stderr'] as const)
      child[stream].setEncoding('utf8').on('data', (text: string) => (output[stream] += text))
    return { code: await new Promise((resolve) => child.on('close', resolve)), ...output }
  }
  const git = (repository: string, ...args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync('git', ['-C', repository, ...args], { encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    return stdout.trimEnd()
  }
  const hasGit = (context: TestContext): boolean => {
    if (spawnSync('git', ['--version']).status === 0) return true
    context.skip('git is not here: export as a repository is not tested')
    return false
  }
  const exported = async (collection: string, name: string): Promise<string> => {
    const repository = join(folder, name)
    const { code, stderr } = await mds(['export', '-c', collection, '--git', repository])
    assert.equal(code, 0, stderr)
    return repository
  }

  it('each revision is a commit in the order of time, with fixed names, and the last state is checked out', async (context) => {
    if (!hasGit(context)) return
    const name = client.collection()
    await client.add(name, 'guide/install', { contentMd: '# one\n', meta: { title: ['Install'] } })
    await client.add(name, 'readme', { lang: 'de', contentMd: 'hallo' })
    await client.update(name, 'guide/install', { contentMd: '# two\n', meta: {} })
    await client.addBatch(name, [{ key: 'draft', lang: 'en', contentMd: 'not kept', saveRevision: false }])
    const repository = await exported(name, 'history')
    const subjects = git(repository, 'log', '--reverse', '--format=%s').split('\n').sort()
    assert.deepEqual(subjects, [
      'draft (en): present state',
      'guide/install (en): revision 1',
      'guide/install (en): revision 2',
      'readme (de): revision 1',
    ])
    const file = 'guide/install.en.md'
    assert.equal(git(repository, 'show', `HEAD:${file}`), '---\n"mds:key": ["guide/install"]\n"mds:lang": ["en"]\n---\n# two')
    assert.equal(readFileSync(join(repository, file), 'utf8'), `${git(repository, 'show', `HEAD:${file}`)}\n`)
    assert.equal(readFileSync(join(repository, 'readme.de.md'), 'utf8').endsWith('---\nhallo'), true)
    const [first] = git(repository, 'log', '--reverse', '--format=%H', '--', file).split('\n')
    assert.match(git(repository, 'show', `${first}:${file}`), /"title": \["Install"\]\n---\n# one$/)
    assert.equal(git(repository, 'status', '--porcelain'), '')
    const times = git(repository, 'log', '--reverse', '--format=%at %ct %an <%ae> %cn').split('\n')
    for (const line of times) assert.match(line, /^(\d+) \1 Markdown Document Service <mds@localhost> Markdown Document Service$/)
    assert.deepEqual(times, [...times].sort())
    assert.equal(Number(times[0]?.split(' ')[0]), (await client.revisions(name, 'guide/install')).at(-1)?.timestamp)
  })

  it('an import of what was exported gives the same documents, whatever their names, texts and metadata', async (context) => {
    if (!hasGit(context)) return
    const [name, again] = [client.collection(), client.collection()]
    const keys = [
      'plain',
      'a/b/c',
      '../up',
      '.git/config',
      '.hidden',
      'a//b',
      'node_modules/x',
      'a.md/b',
      'a',
      'äöü 😀',
      'x'.repeat(900),
      'per%cent',
      'a:b*c?',
      'trail./x',
      'git~1/y',
      '-dash',
      '"quoted"',
      'line\nend',
    ]
    const texts = ['', 'no end', '---\ntitle: own\n---\n# body\n', '---\n', '\r\n\r\n', '\ufeffmark', 'Ünïcödé \u2028 \u0000 \u007f']
    const documents = keys.map((key, index) => ({
      key,
      lang: ['en', 'en_GB', 'zh-Hant'][index % 3],
      contentMd: texts[index % texts.length],
      meta: {
        title: [key],
        empty: [],
        'mds:key': ['mine'],
        'odd: "key"': ['[x]', '', '- a\n- b', 'null', '1.10'],
        ['k'.repeat(500)]: [texts[(index + 3) % texts.length]],
      },
    }))
    const { added, errors } = await client.addBatch(name, documents)
    assert.deepEqual([added, errors], [keys.length, []])
    const repository = await exported(name, 'round')
    const { code, stdout, stderr } = await mds(['import', repository, '-c', again])
    assert.equal(code, 0, stderr)
    assert.match(stdout, new RegExp(`^${keys.length} added, 0 updated, 0 failed`))
    assert.equal(await client.checksum(again), await client.checksum(name))
    for (const { key, lang } of documents)
      assert.deepEqual((await client.get(again, key, { lang }))?.meta, (await client.get(name, key, { lang }))?.meta)
  })

  it('the same history gives the same commits, also by way of the stream', async (context) => {
    if (!hasGit(context)) return
    const name = client.collection()
    await client.addBatch(
      name,
      Array.from({ length: 250 }, (_, index) => ({ key: `k${index % 100}`, lang: 'en', contentMd: `text ${index}` })),
    )
    const [one, two] = [await exported(name, 'one'), await exported(name, 'two')]
    assert.equal(git(one, 'rev-list', '--count', 'HEAD'), '250')
    assert.equal(git(one, 'rev-parse', 'HEAD'), git(two, 'rev-parse', 'HEAD'))
    const stream = await mds(['export', '-c', name, '--git', '-'])
    assert.equal(stream.code, 0, stream.stderr)
    const bare = join(folder, 'bare')
    assert.equal(spawnSync('git', ['init', '--quiet', '--bare', bare]).status, 0)
    assert.equal(spawnSync('git', ['-C', bare, 'fast-import', '--quiet'], { input: stream.stdout }).status, 0)
    assert.equal(git(bare, 'rev-parse', 'refs/heads/main'), git(one, 'rev-parse', 'HEAD'))
  })

  it('an obstacle is reported in one line with exit code 1: a folder that is not empty, no git, no server', async (context) => {
    const name = client.collection()
    await client.add(name, 'k')
    const refused = await mds(['export', '-c', name, '--git', root])
    assert.deepEqual([refused.code, refused.stderr], [1, `mds export: ${root} is not empty\n`])
    const bare = await mds(['export', '-c', name, '--git', join(folder, 'without')], { PATH: folder })
    assert.deepEqual([bare.code, bare.stderr], [1, 'mds export: git is not installed\n'])
    const alone = await mds(['export', '-c', name, '--git', '-', '--url', 'http://127.0.0.1:1'])
    assert.equal(alone.code, 1)
    assert.match(alone.stderr, /^mds: no answer from http:\/\/127\.0\.0\.1:1/)
    if (!hasGit(context)) return
    const late = await mds(['export', '-c', name, '--git', join(folder, 'late'), '--url', 'http://127.0.0.1:1'])
    assert.equal(late.code, 1)
    assert.equal(existsSync(join(folder, 'late')), false)
  })

  it('a missing collection is reported and nothing is created; an empty one becomes an empty repository', async (context) => {
    for (const target of ['-', join(folder, 'unknown')]) {
      const unknown = await mds(['export', '-c', 'never heard of', '--git', target])
      assert.deepEqual(unknown, { code: 1, stdout: '', stderr: 'mds export: there is no collection "never heard of"\n' })
    }
    assert.equal(existsSync(join(folder, 'unknown')), false)
    const [emptied, configured] = [client.collection(), client.collection()]
    await client.add(emptied, 'k')
    await client.delete(emptied, 'k')
    assert.equal((await client.server.request('PUT', '/v1/collection-config', { collection: configured, icon: 'i' })).status, 200)
    for (const name of [emptied, configured]) {
      const stream = await mds(['export', '-c', name, '--git', '-'])
      assert.deepEqual([stream.code, stream.stderr], [0, '0 documents, 0 commits\n'])
      if (!hasGit(context)) return
      assert.equal(git(await exported(name, `empty-${name}`), 'rev-list', '--all', '--count'), '0')
    }
  })

  it('a folder that cannot be created or used is reported in one line with exit code 1, without endless retries', async () => {
    const name = client.collection()
    await client.add(name, 'k')
    const file = join(folder, 'file')
    writeFileSync(file, 'mine')
    const targets = [file, join(file, 'below'), join(file, 'far', 'below'), join(folder, 'x'.repeat(300)), '', '/proc/x', '/proc/x/y/z']
    for (const target of targets) {
      const refused = await mds(['export', '-c', name, '--git', target])
      assert.equal(refused.code, 1, target)
      assert.match(refused.stderr, /^mds export: cannot use .*\(E[A-Z]+: .+\)\n$/, target)
    }
    assert.equal(readFileSync(file, 'utf8'), 'mine')
  })

  it('folders that lead to the one asked for are made', async (context) => {
    if (!hasGit(context)) return
    const name = client.collection()
    await client.add(name, 'k')
    assert.equal(git(await exported(name, 'new/../made/far/below/'), 'rev-list', '--count', 'HEAD'), '1')
  })

  it('a full target is reported in one line with exit code 1: a disk before and during the export, and stdout', async (context) => {
    const name = client.collection()
    const noise = Buffer.from(Array.from({ length: 3 << 20 }, () => 32 + Math.floor(Math.random() * 90))).toString('latin1')
    await client.add(name, 'large', { contentMd: noise })
    const small = client.collection()
    await client.add(small, 'k')
    const refusedStream = (path: string): void => {
      const target = openSync(path, 'w')
      for (const collection of [name, small]) {
        const args = [join(root, 'bin', 'mds.mjs'), 'export', '-c', collection, '--git', '-', '--url', client.server.url]
        const { status, stderr } = spawnSync(process.execPath, args, { stdio: ['ignore', target, 'pipe'], encoding: 'utf8' })
        assert.equal(status, 1, stderr)
        assert.match(stderr, /^mds export: the stream was not taken to its end \(.*ENOSPC.*\)\n$/)
      }
      closeSync(target)
    }
    refusedStream('/dev/full')
    if (!hasGit(context)) return
    const disk = SmallDisk.mount(2)
    if (disk === undefined) return context.skip('SKIPPED: this user may not mount a disk to fill')
    try {
      const during = await mds(['export', '-c', name, '--git', join(disk.path, 'during')])
      assert.equal(during.code, 1)
      assert.match(during.stderr, /^mds export: git fast-import ended with code 128 \(.+\)\n$/)
      rmSync(join(disk.path, 'during'), { recursive: true })
      writeFileSync(join(disk.path, 'stream'), '')
      disk.fill(0)
      refusedStream(join(disk.path, 'stream'))
      const before = await mds(['export', '-c', name, '--git', join(disk.path, 'before')])
      assert.equal(before.code, 1)
      assert.match(before.stderr, /^mds export: .*(?:ENOSPC|No space left on device).*\n$/)
    } finally {
      disk.unmount()
    }
  })
})
