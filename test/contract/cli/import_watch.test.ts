/** `mds import --watch` against the real server: what it sends, what it removes, how it ends. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { cliWithServer } from '../../harness/cli_runs.js'

const { runs, post } = cliWithServer()

interface Stored {
  readonly key: string
  readonly contentMd: string
}

async function contents(collection: string): Promise<Record<string, string>> {
  const answer = await post('/v1/search', { collection, limit: 100, sort: 'key', asc: true })
  return Object.fromEntries(answer.json<Stored[]>().map(({ key, contentMd }) => [key, contentMd]))
}

async function revisions(collection: string, key: string): Promise<number> {
  const answer = await post('/v1/revisions', { collection, key, lang: 'en', limit: 100 })
  return answer.json<{ revisions: unknown[] }>().revisions.length
}

describe('mds import --watch', () => {
  it('mds import --watch: what changes is imported, once for each burst, and what is written without a change is not sent', async () => {
    const tree = runs.makeTree({ 'a.md': 'A', 'b.md': 'B', 'deep/c.md': 'C', 'old.html': 'old' })
    const run = runs.start('import', tree, '-c', 'watch', '--watch')
    await run.until(/4 added, 0 updated, 0 failed in .*\nwatching .*\n/)
    for (let at = 0; at < 20; at += 1) appendFileSync(join(tree, 'a.md'), `\n${at}`)
    mkdirSync(join(tree, 'new', 'er'), { recursive: true })
    runs.write(join(tree, 'new', 'er', 'd.md'), 'D')
    runs.write(join(tree, '.hidden.md'), 'H')
    runs.write(join(tree, 'picture.png'), 'P')
    utimesSync(join(tree, 'b.md'), 1, 1)
    assert.equal(await run.until(/\d+ added, \d+ updated.*\n/), '1 added, 1 updated, 0 removed, 0 failed\n')
    assert.deepEqual(Object.keys(await contents('watch')), ['a', 'b', 'deep/c', 'new/er/d', 'old'])
    assert.equal(await revisions('watch', 'b'), await revisions('watch', 'deep/c'))
    rmSync(join(tree, 'b.md'))
    runs.write(join(tree, 'old.md'), 'new')
    assert.equal(await run.until(/\d+ added, \d+ updated.*\n/), '0 added, 1 updated, 0 removed, 0 failed\n')
    assert.equal((await contents('watch'))['b'], 'B')
    assert.equal((await contents('watch'))['old'], 'new')
    assert.equal(await run.end(), 0)
  })

  it('mds import --watch: a file that an editor saves by renaming or by writing anew stays one document', async () => {
    const tree = runs.makeTree({ 'a.md': 'A', 'b.md': 'B', 'c.md': 'C' })
    const run = runs.start('import', tree, '-c', 'saved', '--watch', '--sync', 's')
    await run.until(/watching .*\n/)
    const before = await revisions('saved', 'a')
    utimesSync(join(tree, 'c.md'), 1, 1)
    runs.write(join(tree, 'a.md~'), 'A2')
    renameSync(join(tree, 'a.md~'), join(tree, 'a.md'))
    assert.equal(await run.until(/\d+ added, .*\n/), '0 added, 1 updated, 0 removed, 0 failed\n')
    renameSync(join(tree, 'b.md'), join(tree, 'b.md.bak'))
    runs.write(join(tree, 'b.md'), 'B2')
    assert.equal(await run.until(/\d+ added, .*\n/), '0 added, 1 updated, 0 removed, 0 failed\n')
    assert.deepEqual(await contents('saved'), { a: 'A2', b: 'B2', c: 'C' })
    assert.equal(await revisions('saved', 'a'), before + 1)
    await run.end()
  })

  it('mds import --watch --sync: what is deleted or renamed is removed, more than half only with --yes', async () => {
    const tree = runs.makeTree({ 'a.md': 'A', 'b.md': 'B', 'dir/c.md': 'C', 'dir/d.md': 'D', 'e.md': 'E' })
    await post('/v1/add', { collection: 'gone', key: 'by-hand', lang: 'en', contentMd: 'H' })
    const run = runs.start('import', tree, '-c', 'gone', '--watch', '--sync', 's')
    await run.until(/watching .*\n/)
    renameSync(join(tree, 'a.md'), join(tree, 'z.md'))
    assert.equal(await run.until(/\d+ added, .*\n/), '1 added, 0 updated, 1 removed, 0 failed\n')
    rmSync(join(tree, 'dir'), { recursive: true })
    assert.equal(await run.until(/\d+ added, .*\n/), '0 added, 0 updated, 2 removed, 0 failed\n')
    assert.deepEqual(Object.keys(await contents('gone')), ['b', 'by-hand', 'e', 'z'])
    rmSync(join(tree, 'b.md'))
    rmSync(join(tree, 'e.md'))
    await run.until(/nothing was removed: 2 of 3 documents are gone from the source, more than half; --yes removes them\n/)
    runs.write(join(tree, 'e.md'), 'E')
    assert.equal(await run.until(/\d+ added, .*\n/), '0 added, 0 updated, 1 removed, 0 failed\n')
    assert.deepEqual(Object.keys(await contents('gone')), ['by-hand', 'e', 'z'])
    await run.end()
    const again = runs.start('import', tree, '-c', 'gone', '--watch', '--sync', 's', '--yes')
    await again.until(/watching .*\n/)
    rmSync(join(tree, 'e.md'))
    rmSync(join(tree, 'z.md'))
    assert.equal(await again.until(/\d+ added, .*\n/), '0 added, 0 updated, 2 removed, 0 failed\n')
    await again.end()
  })

  it('mds import --watch: SIGINT and SIGTERM end it, with a summary of what was imported', async () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const tree = runs.makeTree({ 'a.md': 'A' })
      const run = runs.start('import', tree, '-c', `end-${signal}`, '--watch')
      await run.until(/watching .*\n/)
      runs.write(join(tree, 'b.md'), 'B')
      await run.until(/1 added, .*\n/)
      assert.equal(await run.end(signal), 0)
      assert.match(run.output, /\n1 added, 0 updated, 0 removed, 0 failed since the import, watched for \d+ s\n$/)
    }
  })

  it('mds import --watch: a file that can not be imported is named, and the next version of it is imported', async () => {
    const tree = runs.makeTree({ 'a.md': 'A' })
    const run = runs.start('import', tree, '-c', 'bad', '--watch')
    await run.until(/watching .*\n/)
    runs.write(join(tree, 'b.md'), Buffer.from([0xff, 0xfe, 0xff]))
    await run.until(/not imported: b\.md: not valid UTF-8\n/)
    await run.until(/0 added, 0 updated, 0 removed, 1 failed\n/)
    runs.write(join(tree, 'b.md'), 'B')
    await run.until(/1 added, 0 updated, 0 removed, 0 failed\n/)
    await run.end()
  })

  it('mds import --watch --sync: a document that somebody else has written since stays, and a refused file ends nothing', async () => {
    const tree = runs.makeTree({ 'a.md': 'A', 'b.md': 'B', 'c.md': 'C' })
    const run = runs.start('import', tree, '-c', 'theirs', '--watch', '--sync', 's')
    await run.until(/watching .*\n/)
    await post('/v1/add', { collection: 'theirs', key: 'a', lang: 'en', contentMd: 'THEIRS' })
    const long = Array.from({ length: 6 }, (_, at) => `${at}`.repeat(200))
    mkdirSync(join(tree, ...long), { recursive: true })
    runs.write(join(tree, ...long, 'x.md'), 'X')
    await run.until(/0 added, 0 updated, 0 removed, 1 failed\n/)
    rmSync(join(tree, 'a.md'))
    rmSync(join(tree, ...long, 'x.md'))
    rmSync(join(tree, 'b.md'))
    assert.equal(await run.until(/\d+ added, .*\n/), '0 added, 0 updated, 1 removed, 0 failed\n')
    assert.deepEqual(await contents('theirs'), { a: 'THEIRS', c: 'C' })
    assert.equal(await run.end(), 0)
  })

  it('mds import --watch: what it can not read ends it with exit code 1, at its start and later', async () => {
    const tree = runs.makeTree({ 'a.md': 'A', 'd/b.md': 'B' })
    execFileSync('git', ['-C', tree, 'init', '-q'], { stdio: 'pipe' })
    runs.write(join(tree, '.git', 'index'), 'no index')
    const refused = await runs.mds('import', tree, '-c', 'unread', '--watch', '--git')
    assert.equal(refused.code, 1, refused.stderr)
    assert.match(refused.stderr, /^mds import: --git: /)
    const run = runs.start('import', tree, '-c', 'unread', '--watch', '--sync', 's', '--yes')
    await run.until(/watching .*\n/)
    renameSync(join(tree, 'd'), join(tree, '.e'))
    symlinkSync('d', join(tree, 'd'))
    assert.match(await run.until(/cannot read folder .*\n|\d+ added, .*\n/), /^cannot read folder/)
    assert.equal(await run.code, 1)
    assert.deepEqual(await contents('unread'), { a: 'A', 'd/b': 'B' })
  })

  it('mds import --watch --git: a file is imported when it is tracked, and removed when it is not any more', async () => {
    const tree = runs.makeTree({ 'a.md': 'A', 'b.md': 'B', 'c.md': 'C' })
    const git = (...args: readonly string[]): unknown => execFileSync('git', ['-C', tree, ...args], { stdio: 'pipe' })
    git('init', '-q')
    git('add', 'a.md', 'c.md')
    const run = runs.start('import', tree, '-c', 'watch-git', '--watch', '--git', '--sync', 's')
    await run.until(/2 added, (?:.*\n)+watching .*\n/)
    git('add', 'b.md')
    await run.until(/1 added, 0 updated, 0 removed, 0 failed\n/)
    git('rm', '-q', '--cached', 'a.md')
    await run.until(/0 added, 0 updated, 1 removed, 0 failed\n/)
    assert.deepEqual(Object.keys(await contents('watch-git')), ['b', 'c'])
    await run.end()
  })

  it('mds import --watch: files are watched by the kernel, folders only, and not in a dry run', async () => {
    const tree = runs.makeTree({ 'a.md': 'A' })
    const file = await runs.mds('import', join(tree, 'a.md'), '-c', 'none', '--watch')
    assert.deepEqual([file.code, file.stderr], [1, `mds import: --watch needs a folder, and ${join(tree, 'a.md')} is none\n`])
    assert.match((await runs.mds('import', tree, '-c', 'none', '--watch', '--dry-run')).stderr, /--watch can not be a --dry-run/)
    const link = join(runs.makeTree({}), 'link')
    symlinkSync(tree, link)
    const run = runs.start('import', link, '-c', 'kernel', '--watch')
    await run.until(/watching .*\n/)
    runs.write(join(tree, 'b.md'), 'B')
    assert.equal(await run.until(/\d+ added, .*\n/), '1 added, 0 updated, 0 removed, 0 failed\n')
    const facts = `/proc/${run.child.pid}/fdinfo`
    assert.ok(readdirSync(facts).some((name) => readFileSync(join(facts, name), 'utf8').includes('inotify wd:')))
    await run.end()
  })
})
