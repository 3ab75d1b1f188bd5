/** `mds import --sync` and `--dry-run` against the real server: what is removed, and what never is. */
import assert from 'node:assert/strict'
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { cliWithServer } from '../../harness/cli_runs.js'

const { runs, post, get } = cliWithServer()
const { mds } = runs

async function keys(collection: string): Promise<string[]> {
  const response = await post('/v1/search', { collection, limit: 100, sort: 'key', asc: true })
  return response.json<{ key: string; lang: string }[]>().map(({ key, lang }) => `${key}.${lang}`)
}

const FOUR = { 'a.md': 'A', 'b.md': 'B', 'c.md': 'C', 'd/e.md': 'E' }

describe('mds import --sync', () => {
  it('mds import --sync: removes documents whose file is gone, and none that another source or hand has written', async () => {
    const [tree, other] = [runs.makeTree(FOUR), runs.makeTree({ 'x.md': 'X', 'y.md': 'Y' })]
    await mds('import', tree, '-c', 'sync', '--sync', 'handbook')
    await mds('import', other, '-c', 'sync', '--sync', 'blog')
    await mds('import', runs.makeTree({ 'plain.md': 'P' }), '-c', 'sync')
    await post('/v1/add', { collection: 'sync', key: 'by-hand', lang: 'en', contentMd: 'H' })
    rmSync(join(tree, 'b.md'))
    const run = await mds('import', tree, '-c', 'sync', '--sync', 'handbook')
    assert.equal(run.code, 0, run.stderr)
    assert.match(run.stdout, /^0 added, 0 updated, 3 unchanged, 1 removed, 0 failed in /)
    assert.deepEqual(await keys('sync'), ['a.en', 'by-hand.en', 'c.en', 'd/e.en', 'plain.en', 'x.en', 'y.en'])
    const filtered = await post('/v1/search', { collection: 'sync', filterMeta: { import_source: ['handbook'] } })
    assert.equal(filtered.json<unknown[]>().length, 3)
  })

  it('mds import --sync: more than half of the documents are removed with --yes only', async () => {
    const tree = runs.makeTree(FOUR)
    await mds('import', tree, '-c', 'half', '--sync', 's')
    for (const name of ['a.md', 'b.md', 'c.md']) rmSync(join(tree, name))
    const refused = await mds('import', tree, '-c', 'half', '--sync', 's')
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /nothing was removed: 3 of 4 documents are gone from the source, more than half; --yes removes them\n/)
    assert.equal((await keys('half')).length, 4)
    assert.match((await mds('import', tree, '-c', 'half', '--sync', 's', '--yes')).stdout, /3 removed/)
    assert.deepEqual(await keys('half'), ['d/e.en'])
  })

  it('mds import --sync: an empty folder removes nothing without --yes', async () => {
    const tree = runs.makeTree(FOUR)
    await mds('import', tree, '-c', 'empty', '--sync', 's')
    const run = await mds('import', runs.makeTree({}), '-c', 'empty', '--sync', 's')
    assert.equal(run.code, 1)
    assert.equal((await keys('empty')).length, 4)
  })

  it('mds import --sync: removes only below the prefix of the keys', async () => {
    const tree = runs.makeTree(FOUR)
    await mds('import', tree, '-c', 'prefix', '--sync', 's', '--key-prefix', 'v1/')
    await mds('import', tree, '-c', 'prefix', '--sync', 's', '--key-prefix', 'v2/')
    rmSync(join(tree, 'a.md'))
    await mds('import', tree, '-c', 'prefix', '--sync', 's', '--key-prefix', 'v2/')
    assert.deepEqual(await keys('prefix'), ['v1/a.en', 'v1/b.en', 'v1/c.en', 'v1/d/e.en', 'v2/b.en', 'v2/c.en', 'v2/d/e.en'])
  })

  it('mds import --sync: a file that can not be read keeps its document', async () => {
    const tree = runs.makeTree({ ...FOUR, 'log.txt': 'text' })
    await mds('import', tree, '-c', 'unreadable', '--sync', 's')
    runs.write(join(tree, 'log.txt'), Buffer.from([0, 1, 2, 0, 255]))
    rmSync(join(tree, 'a.md'))
    const run = await mds('import', tree, '-c', 'unreadable', '--sync', 's')
    assert.match(run.stdout, /1 removed, 1 failed/)
    assert.deepEqual(await keys('unreadable'), ['b.en', 'c.en', 'd/e.en', 'log.en'])
    runs.write(join(tree, 'b.md'), Buffer.from([0xff, 0xfe, 0xff]))
    rmSync(join(tree, 'c.md'))
    const uncertain = await mds('import', tree, '-c', 'unreadable', '--sync', 's')
    assert.match(uncertain.stderr, /nothing was removed, because it is not known which document b\.md is\n/)
    assert.equal((await keys('unreadable')).length, 4)
  })

  it('mds import --dry-run: says what would be added, updated and removed, and changes nothing', async () => {
    const tree = runs.makeTree(FOUR)
    await mds('import', tree, '-c', 'dry', '--sync', 's')
    const before = (await get('/v1/checksum?collection=dry')).text
    runs.write(join(tree, 'a.md'), 'A2')
    renameSync(join(tree, 'b.md'), join(tree, 'new.md'))
    const run = await mds('import', tree, '-c', 'dry', '--sync', 's', '--dry-run')
    assert.equal(run.code, 0, run.stderr)
    assert.deepEqual(run.stdout.split('\n'), [
      'updated a (en)',
      'added new (en)',
      'removed b (en)',
      'dry run, nothing was changed: 1 added, 1 updated, 2 unchanged, 1 removed, 0 failed',
      '',
    ])
    assert.equal((await get('/v1/checksum?collection=dry')).text, before)
    const without = await mds('import', tree, '-c', 'absent', '--dry-run')
    assert.match(without.stdout, /dry run, nothing was changed: 4 added, 0 updated, 0 failed\n$/)
    assert.equal((await post('/v1/export', { collection: 'absent' })).status, 404)
  })
})

describe('mds import, additions', () => {
  it('mds import: --meta gives values to documents without that name, --key-prefix keys, --titles the first heading', async () => {
    const tree = runs.makeTree({
      'a.md': '---\nversion: own\n---\n\n```\n# not this\n```\n## The `first` *heading* ##\n\n# Second\n',
      'b.md': '---\ntitle: Own\n---\n# Other\n',
    })
    const run = await mds(
      'import',
      tree,
      '-c',
      'more',
      '--titles',
      '--key-prefix',
      'docs/',
      '--meta',
      'version=2',
      '--meta',
      'tags=x',
      '--meta',
      'tags=y=z',
    )
    assert.equal(run.code, 0, run.stderr)
    const metas = await Promise.all(
      ['docs/a', 'docs/b'].map(
        async (key) => (await post('/v1/get', { collection: 'more', key, lang: 'en' })).json<{ meta: object }>().meta,
      ),
    )
    assert.deepEqual(metas, [
      { version: ['own'], tags: ['x', 'y=z'], title: ['The first heading'] },
      { version: ['2'], tags: ['x', 'y=z'], title: ['Own'] },
    ])
  })

  it('mds import: files whose keys differ only in case are reported', async () => {
    const tree = runs.makeTree({ 'Guide.md': 'upper', 'guide.md': 'lower', 'x.md': 'x' })
    const run = await mds('import', tree, '-c', 'case')
    assert.match(run.stderr, /one document for the service, of which the last one stays:\n {2}Guide\.md and guide\.md\n/)
    const stored = await post('/v1/get', { collection: 'case', key: 'guide', lang: 'en' })
    assert.equal(stored.json<{ contentMd: string }>().contentMd, 'lower')
  })
})
