/** Exports of other engines through `mds import`: found afterwards, not sent twice, kept in step. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { cliWithServer } from '../../harness/cli_runs.js'

const { runs, post } = cliWithServer()
const { mds } = runs

interface Stored {
  readonly key: string
  readonly lang: string
  readonly meta: Record<string, string[]>
}

async function documents(collection: string): Promise<unknown[]> {
  const answer = await post('/v1/search', { collection, limit: 100, sort: 'key', asc: true })
  return answer.json<Stored[]>().map(({ key, lang, meta }) => [key, lang, meta])
}

describe('mds import of exports of other engines', () => {
  it('mds import: documents of Meilisearch and Typesense, with fields by name, are found by their metadata', async () => {
    const array = [{ slug: 'a', body: '# A', locale: 'de', price: 5, by: { name: 'X' } }, { slug: 'b', body: '# B' }, { slug: 'c' }]
    const folder = runs.makeTree({
      'all.json': JSON.stringify(array, undefined, 2),
      'all.jsonl': array.map((line) => JSON.stringify(line)).join('\n'),
    })
    const fields = ['--key-field', 'slug', '--content-field', 'body', '--lang-field', 'locale']
    const first = await mds('import', join(folder, 'all.json'), '-c', 'shop', ...fields)
    assert.match(first.stdout, /^2 added, 0 updated, 1 failed/)
    assert.match(first.stderr, /not imported:\n {2}element 3 in line 15: no text in the field body/)
    const expected = [
      ['a', 'de', { price: ['5'], 'by.name': ['X'] }],
      ['b', 'en', {}],
    ]
    assert.deepEqual(await documents('shop'), expected)
    const again = await mds('import', join(folder, 'all.jsonl'), '-c', 'shop', ...fields)
    assert.match(again.stdout, /^0 added, 0 updated, 2 unchanged, 1 failed/)
    const filtered = await post('/v1/search', { collection: 'shop', filterMeta: { 'by.name': ['X'] } })
    assert.equal(filtered.json<unknown[]>().length, 1)
  })

  it('mds import: a CSV file, also a compressed one, is found by its columns and not sent twice', async () => {
    const text = 'slug,body,lang,price\na,"# A, with a comma\nand a line",de,5\nb,# B,,\n'
    const folder = runs.makeTree({ 'all.csv': text })
    const fields = ['--key-field', 'slug', '--content-field', 'body', '--lang-field', 'lang']
    assert.match((await mds('import', join(folder, 'all.csv'), '-c', 'csv', ...fields)).stdout, /^2 added, 0 updated, 0 failed/)
    assert.deepEqual(await documents('csv'), [['a', 'de', { price: ['5'] }], ['b', 'en', {}]]) // prettier-ignore
    const packed = join(folder, 'all.csv.gz')
    writeFileSync(packed, gzipSync(text))
    assert.match((await mds('import', packed, '-c', 'csv', ...fields)).stdout, /^0 added, 0 updated, 2 unchanged, 0 failed/)
  })

  it('mds import: an export of Elasticsearch is kept in step, and a document that can not be read stays', async () => {
    const hit = (id: string, content: unknown): string => JSON.stringify({ _index: 'i', _id: id, _source: { content } })
    const folder = runs.makeTree({ 'hits.jsonl': [hit('a', 'A'), hit('b', 'B'), hit('c', 'C')].join('\n') })
    const file = join(folder, 'hits.jsonl')
    await mds('import', file, '-c', 'hits', '--sync', 'es')
    runs.write(file, [hit('a', 'A'), hit('b', 5)].join('\n'))
    const run = await mds('import', file, '-c', 'hits', '--sync', 'es')
    assert.match(run.stdout, /^0 added, 0 updated, 1 unchanged, 1 removed, 1 failed/)
    assert.equal((await documents('hits')).length, 2)
  })
})
