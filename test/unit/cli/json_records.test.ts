/** Exports of other engines as a source of `mds import`: forms, arrays, fields, hostile input. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import { splitArray, splitObjects } from '../../../src/cli/files/array_splitter.js'
import { SourceError, type SourceItem } from '../../../src/cli/files/document.js'
import type { FieldNames } from '../../../src/cli/files/foreign_document.js'
import { openNdjson } from '../../../src/cli/import/ndjson_source.js'
import { holds } from '../../harness/property.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-records-'))
after(() => rmSync(folder, { recursive: true }))

let made = 0
async function read(text: string, options: FieldNames = {}, after?: SourceItem): Promise<SourceItem[]> {
  const path = join(folder, `${++made}.json`)
  writeFileSync(path, text)
  const items: SourceItem[] = []
  for await (const item of (await openNdjson(path, { lang: 'en', ...options })).items(after)) items.push(item)
  return items
}

const shown = (items: readonly SourceItem[]): unknown[] =>
  items.map((item) => (item.kind === 'problem' ? `${item.name}: ${item.problem} (${item.key ?? '?'})` : Object.values(item.document)))

async function* cut(bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

describe('exports of other engines', () => {
  it('an object of another engine: id and content, the other fields flattened as metadata', async () => {
    const line = '{"id":7,"content":"# T","title":"T","n":1.5,"ok":true,"none":null,"tags":["a","b"],"by":{"name":"X","of":[{"y":1}]}}'
    assert.deepEqual(shown(await read(line))[0], [
      '7',
      'en',
      { title: ['T'], n: ['1.5'], ok: ['true'], tags: ['a', 'b'], 'by.name': ['X'], 'by.of.0.y': ['1'] },
      '# T',
    ])
  })

  it('fields by name: key, content and language, and an own export is then an object like any other', async () => {
    const options = { keyField: 'slug', contentField: 'contentMd', langField: 'locale' }
    const items = await read('{"slug":"a","contentMd":"A","locale":"de","key":"k"}\n{"slug":"b","contentMd":"B","locale":null}', options)
    assert.deepEqual(shown(items), [
      ['a', 'de', { key: ['k'] }, 'A'],
      ['b', 'en', {}, 'B'],
    ])
  })

  it('hits of Elasticsearch and pairs of _bulk have their key in _id, or in a field if one is named', async () => {
    const hit = '{"_index":"i","_id":"h","_score":1,"_source":{"content":"H","a":1}}'
    const bulk = '{"index":{"_index":"i","_id":"b"}}\n{"content":"B","index":{"_id":1}}\n{"create":{}}\n{"id":"c","content":"C"}'
    assert.deepEqual(shown(await read(`${hit}\n${bulk}\n`)), [
      ['h', 'en', { a: ['1'] }, 'H'],
      ['b', 'en', { 'index._id': ['1'] }, 'B'],
      ['c', 'en', {}, 'C'],
    ])
    assert.deepEqual(shown(await read('{"index":{"_id":"b"}}\n{"content":"B","slug":"s"}', { keyField: 'slug' })), [['s', 'en', {}, 'B']])
  })

  it('what is no document is a problem with its line, and a pair stays a pair', async () => {
    const lines = [
      '{"delete":{"_id":"d"}}',
      '{"update":{"_id":"u"}}',
      '{"doc":{}}',
      '{"index":{"_id":"x"}}',
      '{',
      '{"id":"y"}',
      '7',
      '{"content":"A"}',
    ]
    const items = await read([...lines, '{"id":"z","content":"Z"}', '{"index":{"_id":"w"}}'].join('\n'))
    const texts = shown(items).map((text) => (typeof text === 'string' ? text.replace(/invalid JSON: .* \(/, 'invalid JSON (') : text))
    assert.deepEqual(texts, [
      'line 1: a deletion, which is not imported (d)',
      'line 3: an update, which is no whole document (u)',
      'line 5: invalid JSON (x)',
      'line 6: no text in the field content (--content-field names another) (?)',
      'line 7: not a JSON object (?)',
      'line 8: no text or number as the key in the field id (--key-field names another) (?)',
      ['z', 'en', {}, 'Z'],
      'line 10: its document is missing (w)',
    ])
  })

  it('an array is read element by element, and a bad element is a problem with its line', async () => {
    const items = await read('\uFEFF \n[\n{"id":"a","content":"],}"},\n {"id":"b",\n"content":"\\"[{"} , oops}, {"id":]}, ,[1]\n]\n')
    assert.deepEqual(
      items.map((item) => (item.kind === 'problem' ? item.name : item.document.contentMd)),
      ['],}', '"[{', 'element 3 in line 5', 'element 4 in line 5', 'element 5 in line 5', 'element 6 in line 5'],
    )
    assert.deepEqual(await read(' [ ] '), [])
    for (const broken of ['[{"id":"a","content":"A"},', '[1', '[1]]', '[1] {}', '["', '[{"id":"a","content":"A"}']) {
      await assert.rejects(read(broken), SourceError, broken)
    }
  })

  it('objects over several lines are read one by one, and a bad one is a problem with its line', async () => {
    const [a, b] = [
      { id: 'a', content: '}"{\n' },
      { id: 'b', content: 'B', by: { name: 'X' } },
    ].map((o) => JSON.stringify(o, undefined, 2))
    const read2 = await read(`\uFEFF\n${a}\n${b}{\n"id": oops }\n}\n{"id":"c","content":"C"}\n`)
    assert.deepEqual(
      read2.map((item) => (item.kind === 'problem' ? item.name : item.document.contentMd)),
      ['}"{\n', 'B', 'element 3 in line 12', 'element 4 in line 14', 'C'],
    )
    assert.deepEqual(shown(await read(b!, {}, undefined)), [['b', 'en', { 'by.name': ['X'] }, 'B']])
    assert.deepEqual(shown(await read(`${a}\n${b}`, {}, read2[0])), shown(read2.slice(1, 2)))
    for (const broken of [b!.slice(0, -1), `${b}\n{`, `${b}\n]`, '{\n"']) await assert.rejects(read(broken), SourceError, broken)
    assert.equal((await read('{"id":"a",\n{"id":"b","content":"B"}')).length, 2)
  })

  it('continuing behind any record yields exactly the records after it, of pairs and arrays too', async () => {
    const pairs = '{"index":{"_id":"a"}}\n{"content":"A"}\n{"delete":{"_id":"d"}}\n\n{"create":{"_id":"b"}}\n{"content":"B"}'
    for (const text of [pairs, '[{"id":"a","content":"A"}, 1, {"id":"b","content":"B"}]']) {
      const all = await read(text)
      assert.equal(all.length, 3)
      for (const [index, item] of all.entries()) assert.deepEqual(shown(await read(text, {}, item)), shown(all.slice(index + 1)))
    }
  })

  it('deep nesting and names like __proto__ in a record do no harm', async () => {
    const deep = `{"id":"a","content":"A","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    const items = shown(await read(`${deep}\n{"id":"b","content":"B","__proto__":{"p":1},"constructor":"c"}`))
    assert.equal(items[0], 'line 1: nested deeper than 32 levels (?)')
    assert.deepEqual(items[1], ['b', 'en', { ['__proto__.p']: ['1'], constructor: ['c'] }, 'B'])
  })
})

describe('splitArray', () => {
  it('gives the elements however the bytes are cut and blanks are set', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.jsonValue()),
      fc.integer({ min: 1, max: 9 }),
      fc.nat(2),
      async (values, length, indent) => {
        const bytes = Buffer.from(JSON.stringify(values, undefined, indent))
        const found: unknown[] = []
        for await (const { bytes: element } of splitArray(cut(bytes, length), 10_000)) found.push(JSON.parse(element!.toString()))
        assert.deepEqual(found, JSON.parse(bytes.toString()))
      },
    )
    await holds(property)
  })

  it('gives objects without an array around them, however the bytes are cut', async () => {
    const objects = fc.array(fc.dictionary(fc.string(), fc.jsonValue()))
    const property = fc.asyncProperty(objects, fc.integer({ min: 1, max: 9 }), fc.nat(2), async (values, length, indent) => {
      const bytes = Buffer.from(values.map((value) => JSON.stringify(value, undefined, indent)).join('\n'))
      const found: unknown[] = []
      for await (const { bytes: element } of splitObjects(cut(bytes, length), 10_000)) found.push(JSON.parse(element!.toString()))
      assert.deepEqual(found, JSON.parse(JSON.stringify(values)))
    })
    await holds(property)
  })

  it('reports an element over the bound, holds none of it, and goes on', async () => {
    const bytes = Buffer.from(`[1,"${'x'.repeat(50)}",2]`)
    const found: (string | undefined)[] = []
    for await (const element of splitArray(cut(bytes, 7), 10)) found.push(element.bytes?.toString())
    assert.deepEqual(found, ['1', undefined, '2'])
  })
})
