/** ZIP archives as a source of `mds import`: names, formats, continuation, hostile archives. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import { SourceError, type SourceItem } from '../../../src/cli/files/document.js'
import { openZipFiles } from '../../../src/cli/import/zip_source.js'
import { docxOf } from '../../harness/conversion/office_files.js'
import { zipOf } from '../../harness/conversion/zip_file.js'
import { holds } from '../../harness/property.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-zips-'))
after(() => rmSync(folder, { recursive: true }))

async function read(bytes: Buffer, after?: SourceItem, choice = {}): Promise<SourceItem[]> {
  const path = join(folder, 'x.zip')
  writeFileSync(path, bytes)
  const items: SourceItem[] = []
  for await (const item of (await openZipFiles(path, { lang: 'en', stripFrontmatter: false, ...choice })).items(after)) items.push(item)
  return items
}

const shown = (items: readonly SourceItem[]): unknown[] =>
  items.map((item) => (item.kind === 'problem' ? `${item.name}: ${item.problem}` : [item.document.key, item.document.contentMd]))

const word = docxOf({ body: '<w:p><w:r><w:t>word</w:t></w:r></w:p>' })
/** Of all entries with this name, in both of their headers. */
function renamed(zip: Buffer, from: string, to: string): Buffer {
  assert.equal(from.length, to.length)
  return Buffer.from(zip.toString('latin1').replaceAll(from, to), 'latin1')
}

/** An archive whose entries are all the same bytes: as few as make it a bomb. */
function sharedZip(bytes: number): Buffer {
  const text = Buffer.from(Array.from({ length: bytes }, (_, at) => ((at >> 4) % 7 === 0 ? (at * 7919) % 251 : 98)))
  const one = zipOf({ 'aaaa.md': text })
  const directory = one.subarray(one.indexOf('PK\x01\x02'), one.length - 22)
  const count = Math.ceil(one.length / 8_000) + 120
  const entries = Array.from({ length: count }, (_, at) => renamed(directory, 'aaaa', String(at).padStart(4, '0')))
  const end = Buffer.from(one.subarray(one.length - 22))
  end.writeUInt16LE(count, 8)
  end.writeUInt16LE(count, 10)
  end.writeUInt32LE(count * directory.length, 12)
  const bomb = Buffer.concat([one.subarray(0, one.length - 22 - directory.length), ...entries, end])
  assert.ok(bomb.length * 100 + 2 ** 20 < count * bytes, `${bomb.length} bytes become ${count * bytes}`)
  return bomb
}

describe('a ZIP archive as a source', () => {
  it('files of an archive are documents as those of a folder: keys, formats, owners, what is left out', async () => {
    const files = {
      'b/w.docx': word,
      'a.md': 'A',
      'a.html': 'h',
      'ü.md': 'U',
      'x.png': 'x',
      '.h/a.md': 'h',
      '__MACOSX/a.md': 'm',
      'b/': '',
      'node_modules/a.md': 'n',
    }
    const expected = ['a.html: its key is that of a.md', ['a', 'A'], ['b/w', 'word\n'], ['ü', 'U']]
    assert.deepEqual(shown(await read(zipOf(files))), expected)
    assert.deepEqual(shown(await read(zipOf(files), undefined, { include: ['b/**'] })), [['b/w', 'word\n']])
    assert.deepEqual(shown(await read(zipOf({ 'x.png': 'x' }))), [])
  })

  it('continuing behind any file of an archive yields exactly the files after it', async () => {
    const zip = zipOf({ 'b.md': 'B', 'a.md': 'A', 'c.html': 'C' })
    const all = await read(zip)
    for (const [index, item] of all.entries()) assert.deepEqual(shown(await read(zip, item)), shown(all.slice(index + 1)))
  })

  it('names of an archive never become a path, and paths out of it are named', async () => {
    const own = mkdtempSync(join(folder, 'tmp-'))
    const { TMPDIR } = process.env
    process.env['TMPDIR'] = own
    const zip = zipOf({
      '../../evil.docx': word,
      '/root.md': 'R',
      'C:/x.md': 'C',
      'a\\..\\..\\b.md': 'B',
      'ok.docx': word,
      'twice.md': '1',
      'twicf.md': '2',
    })
    assert.deepEqual(shown(await read(renamed(zip, 'twicf', 'twice'))), [
      '../../evil.docx: invalid relative path: ../../evil.docx',
      '/root.md: absolute path: /root.md',
      'C:/x.md: absolute path: C:/x.md',
      'a/../../b.md: invalid relative path: a/../../b.md',
      ['ok', 'word\n'],
      ['twice', '1'],
      'twice.md: another entry has the same name',
    ])
    if (TMPDIR === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = TMPDIR
    assert.deepEqual(readdirSync(own), [])
  })

  it('an entry that is too large, grows too much or is damaged is a problem of its own', async () => {
    const noise = Buffer.from(Array.from({ length: 18 * 1024 * 1024 }, (_, at) => 97 + ((at * at) % 23)))
    const zip = zipOf(
      { 'a.md': 'A', 'bomb.md': Buffer.alloc(2_000_000), 'claim.md': 'abc', 'large.md': noise, 'z.md': 'Z' },
      { 'claim.md': 1 },
    )
    const outcomes = shown(await read(zip))
    assert.deepEqual([outcomes[0], outcomes[4]], [['a', 'A'], ['z', 'Z']]) // prettier-ignore
    assert.match(String(outcomes[1]), /grows more than 100 times/)
    assert.match(String(outcomes[2]), /^claim\.md: too many bytes in the stream/)
    assert.match(String(outcomes[3]), /has more than 17825792 bytes unpacked|grows more than 100 times/)
    const broken = zipOf({ 'a.md': 'A', 'b.md': 'BBBB' })
    broken.writeUInt32LE(7, broken.indexOf('PK\x01\x02') + 16)
    assert.deepEqual(shown(await read(broken)), ['a.md: damaged: its checksum is another', ['b', 'BBBB']])
    broken[broken.indexOf('PK\x01\x02') + 8] = 1
    assert.equal(shown(await read(broken))[0], 'a.md: encrypted')
  })

  it('symbolic links of an archive are left out', async () => {
    const zip = zipOf({ 'a.md': '/etc/passwd', 'b.md': 'B' })
    zip.writeUInt32LE(0o120777 * 0x10000, zip.indexOf('PK\x01\x02') + 38)
    assert.deepEqual(shown(await read(zip)), [['b', 'B']])
  })

  it('entries that share their bytes end the import of an archive that is a bomb as a whole, also where each is refused', async () => {
    for (const bytes of [1_000_000, 18 * 1024 * 1024])
      await assert.rejects(read(sharedZip(bytes)), /grows more than 100 times when unpacked/)
  })

  it('any damage of an archive is a problem or the end of the import, and nothing else', async () => {
    const zip = zipOf({ 'a.md': 'A'.repeat(50), 'b/c.txt': 'C' })
    const change = fc.array(fc.tuple(fc.nat(zip.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
    const property = fc.asyncProperty(change, fc.nat(zip.length), async (changes, length) => {
      const bytes = Buffer.from(zip)
      for (const [at, value] of changes) bytes[at] = value
      for (const damaged of [bytes, zip.subarray(0, length)]) {
        try {
          assert.ok((await read(damaged)).length <= 2)
        } catch (error) {
          assert.ok(error instanceof SourceError, String(error))
        }
      }
    })
    await holds(property)
  })
})
