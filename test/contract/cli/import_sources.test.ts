/** `mds import` of MDX, checkouts of git and archives against the real server. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { cliWithServer } from '../../harness/cli_runs.js'
import { zipOf } from '../../harness/conversion/zip_file.js'

const { runs, post } = cliWithServer()
const { mds } = runs

interface Stored {
  readonly key: string
  readonly meta: Record<string, string[]>
  readonly contentMd: string
}

async function documents(collection: string): Promise<Stored[]> {
  return (await post('/v1/search', { collection, limit: 100, sort: 'key', asc: true })).json<Stored[]>()
}

describe('mds import of MDX', () => {
  it('mds import: a file of MDX is its prose behind its frontmatter, and is not sent twice', async () => {
    const page = '---\ntitle: T\n---\nimport A from "a"\n\n<A>\n  # Words {/* none */}\n</A>\n'
    const tree = runs.makeTree({ 'a.mdx': page, 'b.md': '<A>{x}</A>\n', 'b.mdx': 'same key' })
    const run = await mds('import', tree, '-c', 'mdx')
    assert.match(run.stdout, /^2 added, 0 updated, 1 failed/)
    assert.match(run.stderr, /b\.mdx: its key is that of b\.md/)
    const facts = { upload_format: ['mdx'], upload_filename: ['a.mdx'], upload_converted: ['true'] }
    assert.deepEqual(
      (await documents('mdx')).map(({ key, meta, contentMd }) => [key, meta, contentMd]),
      [
        ['a', { title: ['T'], ...facts }, '---\ntitle: T\n---\n# Words\n'],
        ['b', {}, '<A>{x}</A>\n'],
      ],
    )
    assert.match((await mds('import', tree, '-c', 'mdx')).stdout, /^0 added, 0 updated, 2 unchanged, 1 failed/)
    await mds('import', tree, '-c', 'stripped', '--strip-frontmatter', '--include', 'a.mdx')
    assert.equal((await documents('stripped'))[0]?.contentMd, '# Words\n')
  })
})

const keys = async (collection: string): Promise<string[]> => (await documents(collection)).map(({ key }) => key)

function git(folder: string, ...args: readonly string[]): void {
  const own = ['-c', 'user.name=t', '-c', 'user.email=t@localhost', '-c', 'protocol.file.allow=always']
  execFileSync('git', ['-C', folder, ...own, ...args], { stdio: 'pipe' })
}

/** A checkout with two tracked documents, one of which is in a folder, and files that are not tracked. */
function checkout(): string {
  const tree = runs.makeTree({ 'docs/a.md': 'A', 'docs/deep/b.md': 'B', 'docs/build/x.md': 'X', '.gitignore': 'build/\n' })
  git(tree, 'init', '-q')
  git(tree, 'add', '.')
  git(tree, 'commit', '-qm', 'one')
  runs.write(join(tree, 'docs', 'draft.md'), 'D')
  return tree
}

describe('mds import --git', () => {
  it('mds import --git: only tracked files are imported, with globs, as they are on disk', async () => {
    const tree = checkout()
    runs.write(join(tree, 'docs', 'a.md'), 'A changed')
    const run = await mds('import', join(tree, 'docs'), '-c', 'git', '--git')
    assert.match(run.stdout, /^2 added, 0 updated, 0 failed/, run.stderr)
    assert.deepEqual(await keys('git'), ['a', 'deep/b'])
    assert.equal((await documents('git'))[0]?.contentMd, 'A changed')
    await mds('import', tree, '-c', 'git-globs', '--git', '--include', 'docs/**', '--exclude', '**/a.md')
    assert.deepEqual(await keys('git-globs'), ['docs/deep/b'])
  })

  it('mds import --git --sync: a file that is no longer tracked is removed, and --dry-run says so', async () => {
    const tree = checkout()
    await mds('import', tree, '-c', 'git-sync', '--git', '--sync', 'docs')
    git(tree, 'rm', '-q', '--cached', 'docs/a.md')
    const dry = await mds('import', tree, '-c', 'git-sync', '--git', '--sync', 'docs', '--dry-run')
    assert.equal(dry.stdout, 'removed docs/a (en)\ndry run, nothing was changed: 0 added, 0 updated, 1 unchanged, 1 removed, 0 failed\n')
    const run = await mds('import', tree, '-c', 'git-sync', '--git', '--sync', 'docs')
    assert.match(run.stdout, /^0 added, 0 updated, 1 unchanged, 1 removed, 0 failed/)
    assert.deepEqual(await keys('git-sync'), ['docs/deep/b'])
  })

  it('mds import --git: symbolic links and submodules are not followed', async () => {
    const [tree, other] = [checkout(), checkout()]
    symlinkSync(join(other, 'docs'), join(tree, 'linked'))
    symlinkSync(join(other, 'docs', 'a.md'), join(tree, 'docs', 'link.md'))
    git(tree, 'submodule', '--quiet', 'add', other, 'sub')
    git(tree, 'add', '.')
    rmSync(join(tree, 'docs', 'draft.md'))
    await mds('import', tree, '-c', 'git-links', '--git')
    assert.deepEqual(await keys('git-links'), ['docs/a', 'docs/deep/b'])
  })

  it('mds import --git: without git, without a checkout and of a file, one line says so, and no program of a checkout runs', async () => {
    const [plain, tree] = [runs.makeTree({ 'a.md': 'A' }), checkout()]
    const outside = await mds('import', plain, '-c', 'git-none', '--git')
    assert.deepEqual([outside.code, outside.stderr], [1, `mds import: --git: ${plain} is in no checkout of git\n`])
    const file = await mds('import', join(plain, 'a.md'), '-c', 'git-none', '--git')
    assert.equal(file.stderr, `mds import: --git needs a folder, and ${join(plain, 'a.md')} is none\n`)
    const none = await runs.withEnv({ PATH: plain })('import', tree, '-c', 'git-none', '--git')
    assert.equal(none.stderr, 'mds import: --git needs git, which is not installed or not in PATH\n')
    const program = join(tree, 'monitor')
    runs.write(program, `#!/bin/sh\nmkdir ${join(tree, 'was-run')}\n`)
    chmodSync(program, 0o755)
    git(tree, 'config', 'core.fsmonitor', program)
    assert.equal((await mds('import', tree, '-c', 'git-hook', '--git')).code, 0)
    assert.doesNotThrow(() => mkdirSync(join(tree, 'was-run')))
  })

  it('mds import --git: in a hook of another repository, the folder says which checkout it is', async () => {
    const [tree, other] = [checkout(), checkout()]
    const run = await runs.withEnv({ GIT_DIR: join(other, '.git'), GIT_INDEX_FILE: join(other, '.git', 'none') })('import', tree, '-c', 'git-env', '--git') // prettier-ignore
    assert.match(run.stdout, /^2 added/, run.stderr)
  })
})

describe('mds import of an archive', () => {
  it('mds import: a ZIP archive is imported, kept in step, and not sent twice', async () => {
    const folder = runs.makeTree({ 'site.zip': zipOf({ 'guide/a.md': 'A', 'b.html': '<h1>B</h1>', 'c.md': 'C' }) })
    const path = join(folder, 'site.zip')
    assert.match((await mds('import', path, '-c', 'zip', '--sync', 'site')).stdout, /^3 added, 0 updated, 0 removed, 0 failed/)
    runs.write(path, zipOf({ 'guide/a.md': 'A', 'b.html': '<h1>B2</h1>' }))
    const run = await mds('import', path, '-c', 'zip', '--sync', 'site')
    assert.match(run.stdout, /^0 added, 1 updated, 1 unchanged, 1 removed, 0 failed/)
    assert.deepEqual(await keys('zip'), ['b', 'guide/a'])
    runs.write(path, 'no archive')
    const broken = await mds('import', path, '-c', 'zip')
    assert.deepEqual([broken.code, broken.stderr.split(' (')[0]], [1, `mds import: ${path} is no readable ZIP archive`])
  })
})
