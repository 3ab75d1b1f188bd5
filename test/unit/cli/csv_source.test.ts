/** CSV as a source of `mds import`: quotes, columns, continuation, hostile input. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { SourceError, type SourceItem } from '../../../src/cli/files/document.js'
import type { FieldNames } from '../../../src/cli/files/foreign_document.js'
import { openCsv } from '../../../src/cli/import/csv_source.js'
import { holds } from '../../harness/property.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-csv-'))
after(() => rmSync(folder, { recursive: true }))

async function read(text: string | Buffer, options: FieldNames = {}, after?: SourceItem): Promise<SourceItem[]> {
  const path = join(folder, 'x.csv')
  writeFileSync(path, text)
  const items: SourceItem[] = []
  for await (const item of (await openCsv(path, { lang: 'en', ...options })).items(after)) items.push(item)
  return items
}

const shown = (items: readonly SourceItem[]): unknown[] =>
  items.map((item) => (item.kind === 'problem' ? `${item.name}: ${item.problem}` : Object.values(item.document)))

const TEXT = '\uFEFFid,content,tag,l\r\n1,"# A ""q"", x\nmore",t,de\r\n\r\n2,,,\r\n3,C\r\n,D,,\r\n'

describe('a CSV file as a source', () => {
  it('rows of CSV are documents: quoted cells, columns as metadata, no empty cells, a bad row is a problem', async () => {
    const expected = [
      ['1', 'de', { tag: ['t'] }, '# A "q", x\nmore'],
      ['2', 'en', {}, ''],
      'row 3 in line 6: 2 cells for 4 columns',
      'row 4 in line 7: no text or number as the key in the field id (--key-field names another)',
    ]
    assert.deepEqual(shown(await read(TEXT, { langField: 'l' })), expected)
    assert.deepEqual(shown(await read(gzipSync(TEXT), { langField: 'l' })), expected)
    assert.deepEqual(shown(await read('slug,body\na,B', { keyField: 'slug', contentField: 'body' })), [['a', 'en', {}, 'B']])
  })

  it('continuing behind any row of CSV yields exactly the rows after it', async () => {
    const all = await read(TEXT)
    for (const [index, item] of all.entries()) assert.deepEqual(shown(await read(TEXT, {}, item)), shown(all.slice(index + 1)))
  })

  it('CSV with an open quote, other bytes than UTF-8 or two columns of one name ends the import', async () => {
    for (const bad of ['id,content\n1,"x', 'id,content\n1,x"y"', Buffer.from('id,content\n1,\xff', 'latin1'), 'id,id\n1,2'])
      await assert.rejects(read(bad), SourceError)
    assert.deepEqual(await read(''), [])
  })

  it('a row of CSV is named by its first line, whatever lines its cells and the rows before have', async () => {
    const cell = fc.array(fc.constantFrom('a', '\n', ' '), { maxLength: 5 }).map((parts) => parts.join(''))
    const rows = fc.array(fc.tuple(fc.nat(2), cell), { minLength: 1, maxLength: 8 })
    await holds(
      fc.asyncProperty(rows, async (list) => {
        let [text, line] = ['id,content\n', 2]
        const names: string[] = []
        for (const [index, [blank, value]] of list.entries()) {
          text += `${'\n'.repeat(blank)}"${value}"\n`
          line += blank
          names.push(`row ${index + 1} in line ${line}`)
          line += value.split('\n').length
        }
        assert.deepEqual((await read(text)).map(({ name }) => name), names) // prettier-ignore
      }),
    )
  })

  it('gives back any cells that are quoted', async () => {
    const cell = fc.string({ minLength: 1 })
    const property = fc.asyncProperty(fc.array(fc.tuple(cell, fc.string(), cell), { minLength: 1 }), async (rows) => {
      const quoted = rows.map((row) => row.map((text) => `"${text.replaceAll('"', '""')}"`).join(','))
      const expected = rows.map(([key, content, meta]) => [key, 'en', { m: [meta] }, content])
      assert.deepEqual(shown(await read(['id,content,m', ...quoted].join('\n'))), expected)
    })
    await holds(property)
  })
})
