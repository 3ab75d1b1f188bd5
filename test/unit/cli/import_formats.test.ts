/** `mds import` of files that are not markdown: keys, contents, metadata and refusals. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import type { ImportSource, SourceItem } from '../../../src/cli/files/document.js'
import { openFile, openTree } from '../../../src/cli/import/tree_source.js'
import { docxOf } from '../../harness/conversion/office_files.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-formats-'))
after(() => rmSync(folder, { recursive: true }))

let made = 0
function treeOf(files: Readonly<Record<string, string | Buffer>>): string {
  const root = join(folder, String(++made))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return root
}

const OPTIONS = { lang: 'en', stripFrontmatter: false }

async function readAll(source: ImportSource, after?: SourceItem): Promise<SourceItem[]> {
  const items: SourceItem[] = []
  for await (const item of source.items(after)) items.push(item)
  return items
}

/** By name: key, metadata and content, or the problem. */
function outcomesOf(items: readonly SourceItem[]): Record<string, unknown> {
  return Object.fromEntries(
    items.map((item): [string, unknown] => {
      if (item.kind === 'problem') return [item.name, item.problem]
      const { key, meta, contentMd } = JSON.parse(item.json) as { key: string; meta: Record<string, string[]>; contentMd: string }
      return [item.name, [key, Object.fromEntries(Object.entries(meta).map(([name, values]) => [name, values.join()])), contentMd]]
    }),
  )
}

describe('a folder of files of several formats', () => {
  it('converted files become markdown, wrapped ones a code block, and the metadata says from which file', async () => {
    const docx = docxOf({ body: '<w:p><w:r><w:t>word</w:t></w:r></w:p>' })
    const root = treeOf({
      'a/p.HTM': '<h1>Page</h1>',
      'a/w.docx': docx,
      'c.yml': 'k: ```',
      'n.txt': '---\nt: v\n---\nx',
      'm.md': 'm',
      'x.zip': '',
      'x.doc': '',
    })
    assert.deepEqual(outcomesOf(await readAll(await openTree(root, OPTIONS))), {
      'a/p.HTM': ['a/p', { upload_format: 'html', upload_filename: 'p.HTM', upload_converted: 'true' }, '# Page\n'],
      'a/w.docx': ['a/w', { upload_format: 'docx', upload_filename: 'w.docx', upload_converted: 'true' }, 'word\n'],
      'c.yml': ['c', { upload_format: 'yaml', upload_filename: 'c.yml', upload_converted: 'true' }, '````yaml\nk: ```\n````\n'],
      'm.md': ['m', {}, 'm'],
      'n.txt': ['n', { t: 'v', upload_format: 'txt', upload_filename: 'n.txt' }, '---\nt: v\n---\nx'],
    })
  })

  it('a file that can not be converted is a problem of its own, and the others are read', async () => {
    const root = treeOf({ 'bad.docx': 'no zip', 'good.html': 'g', 'latin.txt': Buffer.from([0x67, 0xfc]), 'zip.log': 'PK\x03\x04' })
    const outcomes = outcomesOf(await readAll(await openTree(root, OPTIONS)))
    assert.match(String(outcomes['bad.docx']), /^not converted: no readable docx: /)
    assert.equal(outcomes['zip.log'], 'binary data, no text')
    assert.deepEqual((outcomes['good.html'] as unknown[])[2], 'g\n')
    assert.deepEqual((outcomes['latin.txt'] as unknown[])[2], 'gü')
  })

  it('of files with one key in a folder, markdown is imported, else the first, and the others are named', async () => {
    const root = treeOf({ 'a.html': 'h', 'a.md': 'm', 'a.txt': 't', 'b.log': 'l', 'b.txt': 't', 'c/a.txt': 'other' })
    const items = await readAll(await openTree(root, OPTIONS))
    const outcomes = outcomesOf(items)
    assert.deepEqual(
      Object.entries(outcomes).map(([name, outcome]) => [name, typeof outcome === 'string' ? outcome : (outcome as string[])[0]]),
      [
        ['a.html', 'its key is that of a.md'],
        ['a.md', 'a'],
        ['a.txt', 'its key is that of a.md'],
        ['b.log', 'b'],
        ['b.txt', 'its key is that of b.log'],
        ['c/a.txt', 'c/a'],
      ],
    )
    assert.deepEqual(await readAll(await openTree(root, OPTIONS), items[2]), items.slice(3))
  })

  it('one file is imported under its name', async () => {
    const root = treeOf({ 'Guide One.html': 'g', 'x.md': '# X' })
    const source = openFile(join(root, 'Guide One.html'), OPTIONS)
    const [item, ...others] = await readAll(source)
    assert.deepEqual((outcomesOf([item!])['Guide One.html'] as unknown[])[0], 'Guide One')
    assert.deepEqual([others, source.total, await readAll(source, item)], [[], 1, []])
    assert.deepEqual(outcomesOf(await readAll(openFile(join(root, 'x.md'), OPTIONS))), { 'x.md': ['x', {}, '# X'] })
  })
})
