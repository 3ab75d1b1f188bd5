/**
 * `POST /v1/upload`: files become documents. service-1, "Document operations"; decisions.md, "Inputs";
 * docs/decisions/documents/ingest.md.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type DocumentJson, DocumentsClient, type Fields, summary } from '../../harness/clients/documents_client.js'
import { type FormFile, type FormParts, upload } from '../../harness/clients/upload_form.js'
import { docxOf, odtOf, pdfOf } from '../../harness/conversion/office_files.js'

interface Uploaded {
  readonly key: string
  readonly format: string
  readonly converted: boolean
  readonly document: DocumentJson
  readonly profile?: string
  readonly warnings?: readonly string[]
}

interface Several {
  readonly added: number
  readonly updated: number
  readonly failed: number
  readonly skipped?: number
  readonly errors: readonly string[]
  readonly results: readonly Uploaded[]
  readonly profile?: string
}

describe('upload', () => {
  let client: DocumentsClient
  before(async () => void (client = await DocumentsClient.shared()))
  after(() => client.stop())

  const send = (collection: string, ...parts: FormParts) => upload(client.server, [['collection', collection], ['lang', 'en'], ...parts])
  const one = async (collection: string, ...parts: FormParts): Promise<Uploaded> => {
    const answer = await send(collection, ...parts)
    assert.equal(answer.status, 200, answer.text)
    return answer.json<Uploaded>()
  }
  const several = async (collection: string, files: readonly FormFile[], ...parts: FormParts): Promise<Several> => {
    const answer = await send(collection, ...parts, ...files.map((file) => ({ ...file, part: 'files[]' })))
    assert.equal(answer.status, 200, answer.text)
    return answer.json<Several>()
  }

  it('upload: one file answers key, format, converted and the document, which is stored in the named collection and language', async () => {
    const collection = client.collection()
    const answer = await upload(client.server, [['collection', collection], ['lang', 'de'], { name: 'Note.md', content: '# Hallo\n' }])
    const { document, ...head } = answer.json<Uploaded>()
    assert.deepEqual(head, { key: 'note', format: 'md', converted: false })
    assert.deepEqual([document.id, document.contentMd], [`${collection}|note|de`, '# Hallo\n'])
    assert.deepEqual(await client.get(collection, 'note', { lang: 'de' }), document)
    assert.deepEqual(await client.found(collection, 'hallo'), ['note'])
  })

  it('upload: the key is the file name in lower case, with hyphens for spaces, without extension and folders, in UTF-8', async () => {
    const collection = client.collection()
    const named: readonly (readonly [string, string])[] = [
      ['My Long  Name.md', 'my-long--name'],
      ['a.b.TXT', 'a.b'],
      ['Éléphant blanc.md', 'éléphant-blanc'],
      ['../../etc/Pass wd.md', 'pass-wd'],
      ['C:\\Users\\x\\Report.md', 'report'],
    ]
    for (const [name, key] of named) {
      const { key: made, document } = await one(collection, { name, content: 'x' })
      assert.deepEqual([made, document.key], [key, key])
    }
    assert.equal((await one(collection, ['key', 'Own Key'], { name: 'x.md', content: 'x' })).document.key, 'Own Key')
    assert.equal(
      summary(await send(collection, { name: '.md', content: 'x' })),
      '400 {"error":"cannot derive key from the file name; provide key explicitly"}',
    )
  })

  it('upload: format, name and whether it was converted become metadata, beside that of the client and in place of the same keys', async () => {
    const collection = client.collection()
    const given = JSON.stringify({ topic: ['a', 'b'], upload_format: ['exe'], upload_converted: ['true'] })
    const { document } = await one(collection, ['meta', given], { name: 'a.md', content: 'x' })
    assert.deepEqual(document.meta, { topic: ['a', 'b'], upload_format: ['md'], upload_converted: ['true'], upload_filename: ['a.md'] })
    const page = await one(collection, { name: 'Page.HTML', content: '<h1>T</h1>' })
    assert.deepEqual(page.document.meta, { upload_format: ['html'], upload_filename: ['Page.HTML'], upload_converted: ['true'] })
  })

  it('upload: .md and .txt are stored as they are, their frontmatter becomes metadata, that of the client has priority', async () => {
    const collection = client.collection()
    const text = '---\ntitle: From the file\ntags: [a, b]\n---\nBody **as it is**.\n'
    for (const name of ['a.md', 'b.txt']) {
      const { document, converted } = await one(collection, ['meta', '{"title":["Mine"]}'], { name, content: text })
      assert.deepEqual([document.contentMd, converted], ['Body **as it is**.\n', false])
      assert.deepEqual([document.meta['title'], document.meta['tags']], [['Mine'], ['a', 'b']])
    }
    const broken = await one(collection, { name: 'c.md', content: '---\na: [\n---\nx' })
    assert.equal(broken.document.contentMd, '---\na: [\n---\nx')
    assert.match(broken.warnings?.join() ?? '', /^frontmatter: /)
  })

  it('upload: .html, .htm, .pdf, .docx, .odt, .rtf, .tex and .latex are converted', async () => {
    const collection = client.collection()
    const word = '<w:p><w:r><w:t>Found words</w:t></w:r></w:p>'
    const files: readonly (readonly [FormFile, string])[] = [
      [{ name: 'a.html', content: '<p>Found <b>words</b></p>' }, 'html'],
      [{ name: 'b.htm', content: '<p>Found words</p>' }, 'html'],
      [{ name: 'c.pdf', content: pdfOf([[12, 'Found words']]) }, 'pdf'],
      [{ name: 'd.docx', content: docxOf({ body: word }) }, 'docx'],
      [{ name: 'e.odt', content: odtOf({ text: '<text:p>Found words</text:p>' }) }, 'odt'],
      [{ name: 'f.rtf', content: '{\\rtf1 Found words\\par}' }, 'rtf'],
      [{ name: 'g.tex', content: '\\begin{document}Found words\\end{document}' }, 'tex'],
      [{ name: 'h.latex', content: '\\begin{document}Found words\\end{document}' }, 'tex'],
    ]
    for (const [file, format] of files) {
      const { document, ...head } = await one(collection, file)
      assert.deepEqual(head, { key: file.name[0], format, converted: true }, file.name)
      assert.match(document.contentMd, /^Found (?:words|\*\*words\*\*)\n$/, file.name)
    }
    assert.deepEqual(await client.found(collection, 'found words'), ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
  })

  it('upload: .yaml, .yml, .log and .lex become a block of code', async () => {
    const collection = client.collection()
    for (const [extension, format] of [
      ['yaml', 'yaml'],
      ['yml', 'yaml'],
      ['log', 'log'],
      ['lex', 'lex'],
    ] as const) {
      // prettier-ignore
      const { document, converted } = await one(collection, { name: `${extension}.${extension}`, content: '---\na: 1\n---\n' })
      assert.deepEqual([document.contentMd, converted], [`\`\`\`${format}\n---\na: 1\n---\n\`\`\`\n`, true])
      assert.deepEqual(document.meta['upload_format'], [format])
    }
  })

  it('upload: an empty file is stored, text of another encoding is decoded, and binary data in a text file is refused', async () => {
    const collection = client.collection()
    assert.equal((await one(collection, { name: 'empty.md', content: '' })).document.contentMd, '')
    const latin = await one(collection, { name: 'latin.txt', content: Buffer.from('Gr\xfc\xdfe', 'latin1') })
    assert.equal(latin.document.contentMd, 'Grüße')
    const binary = await send(collection, { name: 'b.md', content: Buffer.from([0x25, 0, 1, 2]) })
    assert.equal(summary(binary), '400 {"error":"conversion failed: binary data, no text"}')
  })

  it('upload: ttl is the time to live in seconds, and 0 is none', async () => {
    const collection = client.collection()
    const { document } = await one(collection, ['ttl', '3600'], { name: 'a.md', content: 'x' })
    assert.equal(document.expiresAt, document.addedAt + 3600)
    assert.equal((await one(collection, ['ttl', '0'], { name: 'b.md', content: 'x' })).document.expiresAt, undefined)
    assert.equal((await one(collection, { name: 'c.md', content: 'x' })).document.expiresAt, undefined)
  })

  it('upload: several files answer added, updated, failed, errors that name their file, and what each became', async () => {
    const collection = client.collection()
    await one(collection, { name: 'b.md', content: 'before' })
    const files = [
      { name: 'a.md', content: 'first' },
      { name: 'b.md', content: 'second' },
      { name: 'c.exe', content: 'x' },
      { name: 'd.pdf', content: 'no PDF' },
    ]
    const { results, errors, ...counts } = await several(collection, files)
    assert.deepEqual(counts, { added: 1, updated: 1, failed: 2 })
    assert.equal(errors[0], 'c.exe: unsupported format: .exe')
    assert.match(errors[1] ?? '', /^d\.pdf: conversion failed: /)
    assert.deepEqual(results.map(({ key, format, converted, document }) => [key, format, converted, document.contentMd]), [['a', 'md', false, 'first'], ['b', 'md', false, 'second']]) // prettier-ignore
    assert.deepEqual(
      await several(collection, [
        { name: 'x', content: '' },
        { name: 'y.z', content: '' },
      ]),
      {
        added: 0,
        updated: 0,
        failed: 2,
        errors: ['x: unsupported format: the name has no extension', 'y.z: unsupported format: .z'],
        results: [],
      },
    )
  })

  it('upload: one file as files[] answers like one as file, and parts of other names are no files', async () => {
    const collection = client.collection()
    const answer = await send(collection, { name: 'a.md', content: 'x', part: 'files[]' }, { name: 'b.md', content: 'y', part: 'other' })
    assert.deepEqual(Object.keys(answer.json()), ['key', 'format', 'converted', 'document'])
    assert.deepEqual(await client.keys(collection), ['a'])
  })

  it('upload: profile fast stores plain text, keeps no revisions, skips duplicates, and the answer names it; flags override it', async () => {
    const collection = client.collection()
    const page = { name: 'a.html', content: '<h1>Title</h1><p>Some <b>bold</b> text</p>' }
    const fast = await one(collection, ['profile', 'fast'], page)
    assert.deepEqual([fast.document.contentMd, fast.profile], ['Title\n\nSome bold text\n', 'fast'])
    const again = await one(collection, ['profile', 'fast'], ['meta', '{"new":["x"]}'], page)
    assert.deepEqual(again.document, fast.document)
    const both = await several(collection, [page, { name: 'b.md', content: 'x' }], ['profile', 'fast'])
    assert.deepEqual([both.added, both.updated, both.skipped, both.profile], [1, 0, 1, 'fast'])
    assert.deepEqual(
      both.results.map(({ key }) => key),
      ['a', 'b'],
    )
    await one(collection, ['profile', 'fast'], { ...page, content: '<p>changed</p>' })
    assert.equal((await client.revisions(collection, 'a')).length, 0)
    const flags: FormParts = [
      ['profile', 'fast'],
      ['textOnly', 'false'],
      ['saveRevision', 'true'],
      ['skipDuplicates', 'false'],
    ]
    assert.equal((await one(collection, ...flags, page)).document.contentMd, '# Title\n\nSome **bold** text\n')
    assert.equal((await client.revisions(collection, 'a')).length, 1)
    assert.equal((await one(collection, ['profile', 'default'], page)).profile, 'default')
    assert.equal(summary(await send(collection, ['profile', 'slow'], page)), '400 {"error":"unknown ingest profile"}')
  })

  it('upload: skipFts leaves the text out of the index, and textOnly alone extracts plain text', async () => {
    const collection = client.collection()
    await one(collection, ['skipFts', 'true'], { name: 'a.md', content: 'hidden' })
    assert.deepEqual(await client.found(collection, 'hidden'), [])
    const { document } = await one(collection, ['textOnly', 'true'], { name: 'b.html', content: '<h2>T</h2>' })
    assert.equal(document.contentMd, 'T\n')
  })

  it('upload: collection, language and a file are required, and bad metadata, ttl, maxSize and keys are refused', async () => {
    const collection = client.collection()
    const file = { name: 'a.md', content: 'x' }
    const refused: readonly (readonly [FormParts, string])[] = [
      [[['lang', 'en'], file], 'missing fields'],
      [[['collection', collection], file], 'missing fields'],
      [[['collection', ''], ['lang', 'en'], file], 'missing fields'],
      [
        [
          ['collection', collection],
          ['lang', 'en'],
        ],
        'missing fields',
      ],
      [[['collection', collection], ['lang', 'en'], ['meta', '{'], file], 'invalid meta'],
      [[['collection', collection], ['lang', 'en'], ['meta', '[1]'], file], 'invalid meta'],
      [[['collection', collection], ['lang', 'en'], ['meta', '{"a":1}'], file], 'invalid meta.a'],
      [[['collection', collection], ['lang', 'en'], ['ttl', 'soon'], file], 'invalid ttl'],
      [[['collection', collection], ['lang', 'en'], ['ttl', '-1'], file], 'invalid ttl'],
      [[['collection', collection], ['lang', 'en'], ['maxSize', 'big'], file], 'invalid maxSize'],
      [[['collection', collection], ['lang', 'en'], ['maxSize', '-1'], file], 'invalid maxSize'],
      [[['collection', collection], ['lang', 'en'], ['key', 'k'], file, file], 'invalid key: it names one document, and 2 files came'],
    ]
    for (const [parts, text] of refused) assert.equal(summary(await upload(client.server, parts)), `400 ${JSON.stringify({ error: text })}`)
    assert.deepEqual(await client.keys(collection), [])
  })

  it('upload: a schema of the collection holds, and one file that it refuses does not keep the others', async () => {
    const collection = client.collection()
    const schema = { required: ['topic'] }
    const set = await client.post('/v1/schema/set', { collection, schema: JSON.stringify(schema) })
    assert.equal(set.status, 200, set.text)
    const files = [
      { name: 'a.md', content: 'x' },
      { name: 'b.md', content: '---\ntopic: t\n---\n' },
    ]
    const { added, failed, errors } = await several(collection, files)
    assert.deepEqual([added, failed, errors.length], [1, 1, 1])
    assert.match(errors[0] ?? '', /^a\.md: .*topic/)
  })

  it('upload: documents of collections in process memory are stored and found like others', async () => {
    const collection = client.collection()
    const config: Fields = { collection, storageBackend: 'memory' }
    assert.equal((await client.server.request('PUT', '/v1/collection-config', config)).status, 200)
    const fast = await one(collection, ['profile', 'fast'], { name: 'a.md', content: 'kept in memory' })
    assert.equal(
      (await one(collection, ['profile', 'fast'], { name: 'a.md', content: 'kept in memory' })).document.updatedAt,
      fast.document.updatedAt,
    )
    assert.deepEqual(await client.found(collection, 'memory'), ['a'])
  })
})
