/** `mds import` of a source that was imported before: only what has changed is sent. */
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { cliWithServer } from '../../harness/cli_runs.js'

const { runs, post, get } = cliWithServer()
const { mds } = runs

async function revisions(collection: string, key: string): Promise<number> {
  const response = await post('/v1/revisions', { collection, key, lang: 'en' })
  return response.json<{ revisions: unknown[] }>().revisions.length
}

describe('mds import, a second time', () => {
  it('mds import again: sends what has changed in text or metadata, makes no revision of the rest, and counts it', async () => {
    const tree = runs.makeTree({ 'a.md': '# A', 'b.md': '---\ntags: [x, y]\ntitle: B\n---\n# B', 'c/d.md': '# D', 'e.html': '<h1>E</h1>' })
    assert.match((await mds('import', tree, '-c', 'again')).stdout, /^4 added, 0 updated, 0 failed in /)
    assert.match((await mds('import', tree, '-c', 'again')).stdout, /^0 added, 0 updated, 4 unchanged, 0 failed in /)
    assert.equal(await revisions('again', 'a'), 1)
    runs.write(join(tree, 'a.md'), '# Z')
    runs.write(join(tree, 'b.md'), '---\ntags: [y, x]\ntitle: B\n---\n# B')
    runs.write(join(tree, 'f.md'), '# F')
    rmSync(join(tree, 'e.html'))
    assert.match((await mds('import', tree, '-c', 'again')).stdout, /^1 added, 2 updated, 1 unchanged, 0 failed in /)
    assert.deepEqual(await Promise.all(['a', 'b', 'c/d'].map((key) => revisions('again', key))), [2, 2, 1])
  })

  it('mds import again: up to 100 documents are looked up one by one, more by one export, with the same counts', async () => {
    const exports = async (): Promise<number> => {
      const found = /^mddb_http_requests_total\{method="POST",path="\/v1\/export",status="200"\} (\d+)$/m.exec((await get('/metrics')).text)
      return Number(found?.[1] ?? 0)
    }
    const file = join(runs.makeTree({}), 'some.ndjson')
    const lines = Array.from({ length: 101 }, (_, at) => JSON.stringify({ key: `k${at}`, meta: { n: [String(at)] }, contentMd: 'text' }))
    runs.write(file, lines.join('\n'))
    await mds('import', file, '-c', 'few')
    const before = await exports()
    const spelled = JSON.stringify({ key: 'K0', meta: { n: ['0'] }, contentMd: 'text' })
    runs.write(file, [...lines.slice(1), spelled].join('\n'))
    assert.match((await mds('import', file, '-c', 'few')).stdout, /^0 added, 1 updated, 100 unchanged, 0 failed/)
    assert.equal(await exports(), before + 1)
    runs.write(file, [...lines.slice(2), lines[0], '{'].join('\n'))
    assert.match((await mds('import', file, '-c', 'few')).stdout, /^0 added, 1 updated, 99 unchanged, 1 failed/)
    assert.equal(await exports(), before + 1)
    runs.write(file, JSON.stringify({ key: '', contentMd: 'text' }).replace('""', `"${'k'.repeat(5000)}"`))
    assert.match((await mds('import', file, '-c', 'few')).stdout, /^0 added, 0 updated, 1 failed/)
  })

  it('mds import again: metadata alone, another spelling of the key, and --all are changes', async () => {
    const lines = (meta: object, key = 'k'): string => JSON.stringify({ key, meta, contentMd: 'text' })
    const file = join(runs.makeTree({}), 'some.ndjson')
    runs.write(file, lines({ a: ['1'], b: ['2'] }))
    await mds('import', file, '-c', 'lines')
    for (const [line, counts] of [
      [lines({ b: ['2'], a: ['1'] }), '0 updated, 1 unchanged'],
      [lines({ a: ['2'], b: ['2'] }), '1 updated, 0 failed'],
      [lines({ a: ['2'], b: ['2'] }, 'K'), '1 updated, 0 failed'],
    ] as const) {
      runs.write(file, line)
      const { stdout } = await mds('import', file, '-c', 'lines')
      assert.ok(stdout.includes(counts), `${line}: ${stdout}`)
    }
    assert.match((await mds('import', file, '-c', 'lines', '--all')).stdout, /1 updated, 0 failed/)
  })

  it('mds import again: a document that expires is sent, so that its time begins anew', async () => {
    const file = join(runs.makeTree({}), 'some.ndjson')
    runs.write(file, JSON.stringify({ key: 'k', contentMd: 'text', expiresAt: 4_000_000_000 }))
    await mds('import', file, '-c', 'expiring')
    assert.match((await mds('import', file, '-c', 'expiring')).stdout, /^0 added, 1 updated, 0 failed/)
    runs.write(file, JSON.stringify({ key: 'k', contentMd: 'text' }))
    assert.match((await mds('import', file, '-c', 'expiring')).stdout, /^0 added, 1 updated, 0 failed/)
  })

  it('mds import again: of two versions of one document in a source the last one stays, also where it was stored before', async () => {
    const file = join(runs.makeTree({}), 'some.ndjson')
    const [first, last] = ['first', 'last'].map((contentMd) => JSON.stringify({ key: 'k', contentMd }))
    runs.write(file, `${last}\n`)
    await mds('import', file, '-c', 'twice')
    runs.write(file, `${first}\n${last}\n`)
    await mds('import', file, '-c', 'twice')
    const { contentMd } = (await post('/v1/get', { collection: 'twice', key: 'k', lang: 'en' })).json<{ contentMd: string }>()
    assert.equal(contentMd, 'last')
  })
})
