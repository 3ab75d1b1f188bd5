/** Sources and batches of `mds import`: keys, order, bytes, continuation, and the results of broken input. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { DocumentItem, ImportSource, SourceItem } from '../../../src/cli/files/document.js'
import { SourceError } from '../../../src/cli/files/document.js'
import { splitLines } from '../../../src/cli/files/line_splitter.js'
import { groupBatches } from '../../../src/cli/import/batches.js'
import { openNdjson } from '../../../src/cli/import/ndjson_source.js'
import { openTree } from '../../../src/cli/import/tree_source.js'
import { holds } from '../../harness/property.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-cli-'))
after(() => rmSync(folder, { recursive: true }))

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = []
  for await (const item of items) list.push(item)
  return list
}

let made = 0
function makeTree(files: Readonly<Record<string, string | Buffer>>): string {
  const root = join(folder, `tree-${++made}`)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return root
}

function makeFile(name: string, content: string | Buffer): string {
  const path = join(folder, `${++made}-${name}`)
  writeFileSync(path, content)
  return path
}

async function readAll(source: ImportSource, after?: SourceItem): Promise<SourceItem[]> {
  return collect(source.items(after))
}

function documentsOf(items: readonly SourceItem[]): { key: string; lang: string; meta: Record<string, string[]>; contentMd: string }[] {
  return items.filter((item) => item.kind === 'document').map((item) => JSON.parse(item.json) as ReturnType<typeof documentsOf>[number])
}

const TREE = { lang: 'en', stripFrontmatter: false }

describe('a folder as a source', () => {
  it('keys are relative paths without the extension, in an order that is the same each time', async () => {
    const root = makeTree({ 'b.md': 'B', 'a/z.md': 'AZ', 'a/b/c.markdown': 'ABC', 'a-1.md': 'A1', 'notes.doc': 'no', 'UPPER.MD': 'U' })
    const source = await openTree(root, TREE)
    const keys = documentsOf(await readAll(source)).map((document) => document.key)
    assert.deepEqual(keys, ['UPPER', 'a/b/c', 'a/z', 'a-1', 'b'])
    assert.equal(source.total, 5)
  })

  it('the content is the file byte for byte, frontmatter, line ends and byte order mark included', async () => {
    const text = '\uFEFF---\r\ntitle: T\r\n---\r\n# Ä\r\n\u{1F600}\0tail'
    const [document] = documentsOf(await readAll(await openTree(makeTree({ 'x.md': text }), TREE)))
    assert.equal(document?.contentMd, text)
    assert.deepEqual(document?.meta, { title: ['T'] })
  })

  it('asked to strip, the content is what follows the frontmatter', async () => {
    const root = makeTree({ 'x.md': '---\ntitle: T\n---\nbody\n' })
    const [document] = documentsOf(await readAll(await openTree(root, { lang: 'de', stripFrontmatter: true })))
    assert.deepEqual(document, { key: 'x', lang: 'de', meta: { title: ['T'] }, contentMd: 'body\n' })
  })

  it('hidden entries, node_modules and symbolic links are left out', async () => {
    const root = makeTree({ 'a.md': 'a', '.git/b.md': 'b', '.c.md': 'c', 'node_modules/p/d.md': 'd' })
    symlinkSync(root, join(root, 'loop'))
    symlinkSync(join(root, 'a.md'), join(root, 'link.md'))
    assert.deepEqual(
      documentsOf(await readAll(await openTree(root, TREE))).map((document) => document.key),
      ['a'],
    )
  })

  it('a file that is not UTF-8 is a problem of its own, and the others are read', async () => {
    const root = makeTree({ 'bad.md': Buffer.from([0x61, 0xff, 0xfe]), 'good.md': 'fine' })
    const items = await readAll(await openTree(root, TREE))
    assert.deepEqual(
      items.map((item) => [item.name, item.kind === 'problem' ? item.problem : 'document']),
      [
        ['bad.md', 'not valid UTF-8'],
        ['good.md', 'document'],
      ],
    )
  })

  it('broken frontmatter warns and keeps the document', async () => {
    const text = '---\ntitle: [\n---\nbody'
    const [item] = await readAll(await openTree(makeTree({ 'x.md': text }), TREE))
    assert.equal(item?.kind === 'document' && documentsOf([item])[0]?.contentMd, text)
    assert.match((item?.kind === 'document' && item.warning) || '', /^frontmatter:/)
  })

  it('continuing behind any item yields exactly the items after it', async () => {
    const source = await openTree(makeTree({ 'a/b.md': '1', 'a/b/c.md': '2', 'a.md': '3', 'b/a.md': '4', 'b/b.md': '5' }), TREE)
    const all = await readAll(source)
    assert.equal(all.length, 5)
    for (const [index, item] of all.entries()) assert.deepEqual(await readAll(source, item), all.slice(index + 1))
  })

  it('a folder that does not exist is refused', async () => {
    await assert.rejects(openTree(join(folder, 'nowhere'), TREE), SourceError)
  })
})

describe('an NDJSON file as a source', () => {
  const line = (key: string): string => JSON.stringify({ key, lang: 'en', meta: { a: ['b'] }, contentMd: `# ${key}` })

  it('plain and gzipped files give the same documents, whatever their name', async () => {
    const text = `${line('one')}\n\n${line('two')}\r\n${line('three')}`
    for (const path of [makeFile('x.ndjson', text), makeFile('x.ndjson', gzipSync(text)), makeFile('x.ndjson.gz', text)]) {
      const documents = documentsOf(await readAll(await openNdjson(path, { lang: 'de' })))
      assert.deepEqual(
        documents.map((document) => document.key),
        ['one', 'two', 'three'],
      )
      assert.deepEqual(documents[0], { key: 'one', lang: 'en', meta: { a: ['b'] }, contentMd: '# one' })
    }
  })

  it('lang falls back to the option, meta to none, other fields are ignored', async () => {
    const path = makeFile('x.ndjson', '{"key":"k","contentMd":"","meta":null,"other":5}\n')
    assert.deepEqual(documentsOf(await readAll(await openNdjson(path, { lang: 'pl' }))), [
      { key: 'k', lang: 'pl', meta: {}, contentMd: '' },
    ])
  })

  it('each bad line is a problem with its number, and the good ones around it are read', async () => {
    const bad = [
      '{',
      '[]',
      'null',
      '{"key":1,"contentMd":""}',
      '{"key":"k"}',
      '{"key":"k","contentMd":"","lang":1}',
      '{"key":"k","contentMd":"","meta":["a"]}',
    ]
    const bytes = Buffer.concat([
      Buffer.from([line('first'), ...bad].join('\n') + '\n'),
      Buffer.from([0xff, 0x0a]),
      Buffer.from(line('last')),
    ])
    const items = await readAll(await openNdjson(makeFile('x.ndjson', bytes), { lang: 'en' }))
    assert.deepEqual(
      items.map((item) => `${item.name} ${item.kind}`),
      ['line 1 document', ...bad.map((_, i) => `line ${i + 2} problem`), 'line 9 problem', 'line 10 document'],
    )
  })

  it('continuing behind any line yields exactly the lines after it', async () => {
    const source = await openNdjson(makeFile('x.ndjson', [line('a'), '{', line('b'), '', line('c')].join('\n')), { lang: 'en' })
    const all = await readAll(source)
    for (const [index, item] of all.entries()) {
      assert.deepEqual(
        (await readAll(source, item)).map((rest) => rest.name),
        all.slice(index + 1).map((rest) => rest.name),
      )
    }
  })

  it('a truncated archive yields its complete files and then fails', async () => {
    const archive = gzipSync(Buffer.from(Array.from({ length: 5000 }, (_, i) => line(`key-${i}-${Math.sin(i)}`)).join('\n')))
    const source = await openNdjson(makeFile('x.gz', archive.subarray(0, archive.length - 20)), { lang: 'en' })
    const items: SourceItem[] = []
    await assert.rejects(async () => {
      for await (const item of source.items(undefined)) items.push(item)
    }, SourceError)
    assert.ok(items.length > 0)
  })

  it('a changed file has another fingerprint', async () => {
    const path = makeFile('x.ndjson', line('a'))
    const before = (await openNdjson(path, { lang: 'en' })).fingerprint
    writeFileSync(path, line('a') + '\n' + line('b'))
    assert.notEqual((await openNdjson(path, { lang: 'en' })).fingerprint, before)
  })
})

describe('splitLines', () => {
  it('gives the same lines however the bytes are cut', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.string({ maxLength: 12 })),
      fc.array(fc.nat(9), { minLength: 1 }),
      async (lines, cuts) => {
        const text = lines.map((text) => text.replaceAll('\n', ' ')).join('\n')
        const bytes = Buffer.from(text)
        async function* chunks(): AsyncGenerator<Buffer> {
          let begin = 0
          for (let i = 0; begin < bytes.length; i += 1) {
            const length = 1 + (cuts[i % cuts.length] ?? 0)
            yield bytes.subarray(begin, begin + length)
            begin += length
          }
        }
        const split = (await collect(splitLines(chunks(), 1000))).map((line) => line.bytes?.toString())
        const expected = text.split('\n')
        if (expected.at(-1) === '') expected.pop()
        assert.deepEqual(split, expected)
      },
    )
    await holds(property)
  })

  it('a line over the bound is reported and skipped, and the next one is whole', async () => {
    async function* chunks(): AsyncGenerator<Buffer> {
      yield Buffer.from('ok\n' + 'x'.repeat(8))
      yield Buffer.from('x'.repeat(8) + '\nfine')
    }
    const lines = await collect(splitLines(chunks(), 10))
    assert.deepEqual(
      lines.map((line) => [line.number, line.bytes?.toString()]),
      [
        [1, 'ok'],
        [2, undefined],
        [3, 'fine'],
      ],
    )
  })
})

describe('groupBatches', () => {
  const document = (index: number, bytes: number): DocumentItem => ({
    kind: 'document',
    name: `${index}`,
    position: `${index}`,
    consumed: index,
    document: { key: `${index}`, lang: 'en', meta: {}, contentMd: '' },
    json: 'x'.repeat(bytes),
    jsonBytes: bytes,
    identity: `${index}`,
  })

  it('keeps every item in order within both bounds, and a batch over the byte bound contains one document', async () => {
    const property = fc.asyncProperty(fc.array(fc.nat(40)), fc.integer({ min: 1, max: 5 }), async (sizes, documentsMax) => {
      const items = sizes.map((bytes, index): SourceItem => {
        const origin = { name: `${index}`, position: `${index}`, consumed: index }
        return bytes === 0 ? { kind: 'problem', ...origin, problem: 'p' } : document(index, bytes)
      })
      async function* source(): AsyncGenerator<SourceItem> {
        yield* items
      }
      const batches = await collect(groupBatches(source(), { documentsMax, bytesMax: 30, problemsMax: 3 }))
      for (const batch of batches) {
        assert.ok(batch.documents.length <= documentsMax)
        assert.ok(batch.problems.length <= 3)
        assert.ok(batch.documents.length <= 1 || batch.documents.reduce((sum, item) => sum + item.jsonBytes, 0) <= 30)
      }
      const seen = batches.flatMap((batch) => [...batch.documents, ...batch.problems].sort((a, b) => a.consumed - b.consumed))
      assert.deepEqual(seen, items)
      assert.equal(batches.at(-1)?.position, items.at(-1)?.position)
    })
    await holds(property)
  })

  it('gives what came before a failure of the source, then the failure', async () => {
    async function* source(): AsyncGenerator<SourceItem> {
      yield document(1, 5)
      yield document(2, 5)
      throw new SourceError('cut off')
    }
    const positions: string[] = []
    await assert.rejects(async () => {
      for await (const batch of groupBatches(source(), { documentsMax: 10, bytesMax: 30, problemsMax: 3 })) positions.push(batch.position)
    }, /cut off/)
    assert.deepEqual(positions, ['2'])
  })
})
