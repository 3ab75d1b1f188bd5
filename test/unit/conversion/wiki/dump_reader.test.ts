/**
 * Dumps as pages: fields, encodings, compressions, histories, and what becomes of dumps that are damaged, cut
 * off, without an end or made to exhaust memory.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { Bunzip2 } from '../../../../src/conversion/wiki/decompression.js'
import { decompressDump, ownBunzip2 } from '../../../../src/conversion/wiki/decompression.js'
import { DumpError } from '../../../../src/conversion/wiki/dump_error.js'
import { readDump } from '../../../../src/conversion/wiki/dump_reader.js'
import type { WikiPage } from '../../../../src/conversion/wiki/page_builder.js'
import { holds } from '../../../harness/property.js'
import { sharedPath } from '../../../harness/shared_folder.js'
import { DUMP_BEGIN, DUMP_END, dumpXml, inChunks, pageOf, pageXml } from '../../../harness/wiki_dumps.js'

const GIB = 1024 ** 3

interface Outcome {
  readonly pages: WikiPage[]
  readonly error: unknown
}

async function read(bytes: Uint8Array | string, chunkBytes = 64 * 1024, bytesMax = GIB, bunzip2?: readonly Bunzip2[]): Promise<Outcome> {
  const pages: WikiPage[] = []
  try {
    const source = inChunks(typeof bytes === 'string' ? Buffer.from(bytes) : bytes, chunkBytes)
    for await (const page of readDump(decompressDump(source, bytesMax, bunzip2))) pages.push(page)
    return { pages, error: undefined }
  } catch (error) {
    return { pages, error }
  }
}

async function readWell(bytes: Uint8Array | string, chunkBytes?: number): Promise<WikiPage[]> {
  const { pages, error } = await read(bytes, chunkBytes)
  assert.equal(error, undefined)
  return pages
}

function assertFault({ error }: Outcome, fault: DumpError['fault'], message: RegExp): void {
  assert.ok(error instanceof DumpError, String(error))
  assert.equal(error.fault, fault)
  assert.match(error.message, message)
}

const titles = (pages: readonly WikiPage[]): string[] => pages.map(({ title }) => title)
const THREE = dumpXml([pageOf('Äpfel', "''a'' & <b>"), pageOf('日本語 \u{1F600}', 'text'), pageOf('C', 'c'.repeat(3000))])

/** Needs the program; images of the tests have it. */
const bzip2 = (bytes: Uint8Array): Buffer => execFileSync('bzip2', ['-c'], { input: bytes, maxBuffer: GIB })
const noBzip2 = ((): string | false => {
  try {
    execFileSync('bzip2', ['-c'], { input: '' })
    return false
  } catch {
    return 'SKIPPED, bzip2 is not installed'
  }
})()

describe('a page of a dump', () => {
  it('wiki page: has the fields of its own elements, not of others with the same name', async () => {
    const page = pageOf('A & B', 'x <y>', {
      id: 7,
      ns: 4,
      redirect: 'C "d"',
      revisions: [{ id: 8, timestamp: '2021-01-01T00:00:00Z', user: 'Ü <u>', text: 'x <y>\n&' }],
    })
    const [{ dropped, ...rest } = assert.fail()] = await readWell(dumpXml([page]))
    assert.deepEqual(rest, {
      title: 'A & B',
      namespace: 4,
      id: '7',
      redirect: 'C "d"',
      revisionId: '8',
      timestamp: '2021-01-01T00:00:00Z',
      contributor: 'Ü <u>',
      text: 'x <y>\n&',
    })
    assert.ok(dropped.has('ablage') && dropped.has('fach') && dropped.has('category'))
  })

  it('wiki page: names the IP address of a contributor without a name, and nobody where the name was removed', async () => {
    const pages = await readWell(
      dumpXml([pageOf('A', 'a', { revisions: [{ ip: '192.0.2.1', text: 'a' }] }), pageOf('B', 'b', { revisions: [{ text: 'b' }] })]),
    )
    assert.deepEqual(
      pages.map(({ contributor }) => contributor),
      ['192.0.2.1', ''],
    )
  })

  it('wiki page: has the text of its latest revision, in whatever order a history has them', async () => {
    const at = (year: number): { id: number; timestamp: string; text: string } => ({
      id: year,
      timestamp: `${year}-01-01T00:00:00Z`,
      text: `of ${year}`,
    })
    const pages = await readWell(dumpXml([2019, 2021].map((year) => pageOf('A', '', { revisions: [at(year), at(2020)] }))))
    assert.deepEqual(
      pages.map(({ text, revisionId }) => [text, revisionId]),
      [
        ['of 2020', '2020'],
        ['of 2021', '2021'],
      ],
    )
  })

  it('wiki page: has its text with references, line ends and sections of data as XML has them, in chunks of any size', async () => {
    const texts = [
      ['a &lt;b&gt; &amp;amp; &quot;c&apos; &#228;&#xe4; &#x1F600;', 'a <b> &amp; "c\' ää \u{1F600}'],
      ['one\r\ntwo\rthree\n', 'one\ntwo\nthree\n'],
      ['a<![CDATA[ <text>b</text> &amp; ]]>c', 'a <text>b</text> &amp; c'],
      ['<!-- > <text> -->a', 'a'],
      ['', ''],
    ] as const
    const page = (text: string): string => `<page><title>A</title><revision><text a=">">${text}</text></revision></page>`
    const self = '<page><title>A</title><revision><text bytes="0" /></revision></page>'
    for (const begin of ['<text a=">">', '<text>', '<text\n a="b">'])
      for (const [written, text] of texts)
        for (const size of [1, 5, 1000]) {
          const [first, second] = await readWell(DUMP_BEGIN + page(written).replace('<text a=">">', begin) + self + DUMP_END, size)
          assert.deepEqual([first?.text, second?.text], [text, ''], `${begin} ${written}`)
        }
  })

  it('wiki page: is refused where XML would be, with the place in its text', async () => {
    const page = (text: string): string => `${DUMP_BEGIN}<page><revision>\n<text>${text}</text></revision></page>${DUMP_END}`
    for (const [text, message] of [
      ['one\ntwo &bogus; three', /undefined entity \(line 12, column 5\)/],
      ['one\ntwo \u0001', /disallowed character \(line 12, column 5\)/],
      ['a &#0;', /undefined entity \(line 11, column 9\)/],
      ['a & b', /undefined entity \(line 11, column 9\)/],
      ['a ]]> b', /"\]\]>" in a text/],
      ['one\ntwo</b>', /unexpected close tag\. \(line 12, column 8\)/],
    ] as const) {
      assertFault(await read(page(text)), 'malformed', message)
    }
  })

  it('wiki page: of an old dump gets namespace and redirect from title and text', async () => {
    const foreign = pageXml(pageOf('E', '#VERWEIS [[F]]')).replace('<revision>', '<redirect/><revision>')
    const pageTexts = [pageXml(pageOf('Ablage:A', 'a')), pageXml(pageOf('B: c', '#REDIRECT [[D|e]]')), foreign]
    const old = `${DUMP_BEGIN}${pageTexts.join('').replaceAll(/ {4}<ns>.*\n/g, '')}${DUMP_END}`
    const pages = await readWell(old)
    assert.deepEqual(
      pages.map(({ namespace, redirect }) => [namespace, redirect]),
      [
        [6, undefined],
        [0, 'D'],
        [0, 'F'],
      ],
    )
  })

  it('wiki page: has no text if that is longer than a document may be, and the pages behind it are read', async () => {
    const pages = await readWell(dumpXml([pageOf('long', 'x'.repeat(17 * 1024 * 1024)), pageOf('next', 'y')]))
    assert.deepEqual(
      pages.map(({ text }) => text),
      [undefined, 'y'],
    )
  })
})

describe('the bytes of a dump', () => {
  it('wiki bytes: are UTF-8 or UTF-16 in either order, with or without a mark, in chunks of any size', async () => {
    const expected = await readWell(THREE)
    assert.deepEqual(titles(expected), ['Äpfel', '日本語 \u{1F600}', 'C'])
    const little = Buffer.from(THREE, 'utf16le')
    const big = Buffer.from(little).swap16()
    const forms = [
      Buffer.from(THREE),
      Buffer.from(`\uFEFF${THREE}`),
      little,
      Buffer.from(`\uFEFF${THREE}`, 'utf16le'),
      big,
      Buffer.from(`\uFEFF${THREE}`, 'utf16le').swap16(),
    ]
    const declared = Buffer.from(`\uFEFF<?xml version="1.0" encoding="utf-16"?>${THREE}`, 'utf16le')
    for (const form of [...forms, declared]) for (const size of [5, 4096]) assert.deepEqual(await readWell(form, size), expected)
    await holds(
      fc.asyncProperty(fc.integer({ min: 1, max: 300 }), fc.nat(forms.length - 1), async (size, form) => {
        assert.deepEqual(await readWell(forms[form] ?? assert.fail(), size), expected)
      }),
      { numRuns: 20 },
    )
  })

  it('wiki bytes: that are no text, or declared in another encoding, are an error with their place', async () => {
    const broken = Buffer.concat([Buffer.from(DUMP_BEGIN + pageXml(pageOf('A', 'a'))), Buffer.from([0xff, 0xfe]), Buffer.from(DUMP_END)])
    const outcome = await read(broken, 1000)
    assertFault(outcome, 'malformed', /^not UTF-8 between bytes \d+ and \d+$/)
    assertFault(await read(`<?xml version="1.0" encoding="ISO-8859-1"?>${THREE}`), 'malformed', /declared as ISO-8859-1/)
    assertFault(await read(Buffer.from(THREE, 'utf16le').subarray(0, 1001)), 'malformed', /cut off within a character at byte 1000/)
  })

  it('wiki bytes: may be gzip, recognised by its first bytes, in several members', async () => {
    const expected = await readWell(THREE)
    const bytes = Buffer.from(THREE)
    assert.deepEqual(await readWell(gzipSync(bytes), 100), expected)
    assert.deepEqual(await readWell(Buffer.concat([gzipSync(bytes.subarray(0, 700)), gzipSync(bytes.subarray(700))])), expected)
  })

  it('wiki bytes: may be bzip2 of one or many streams, with the program of the system or with our own', { skip: noBzip2 }, async () => {
    const expected = await readWell(THREE)
    const bytes = Buffer.from(THREE)
    const streams = [bytes.subarray(0, 500), bytes.subarray(500, 2000), bytes.subarray(2000)].map(bzip2)
    for (const bunzip2 of [undefined, [ownBunzip2()], [{ program: '/nowhere/bzip2', args: [] }, ownBunzip2()]]) {
      for (const compressed of [bzip2(bytes), Buffer.concat(streams)]) {
        const { pages, error } = await read(compressed, 100, GIB, bunzip2)
        assert.equal(error, undefined)
        assert.deepEqual(pages, expected)
      }
    }
  })

  it('wiki bytes: that are damaged or cut off while compressed are an error behind the pages before', { skip: noBzip2 }, async () => {
    const pages = Array.from({ length: 3000 }, (_, index) => pageOf(`Page ${index}`, Math.random().toString(36).repeat(30)))
    const compressed = bzip2(Buffer.from(dumpXml(pages)))
    const cut = compressed.subarray(0, compressed.length - 1000)
    for (const bunzip2 of [undefined, [ownBunzip2()]]) {
      const outcome = await read(cut, 64 * 1024, GIB, bunzip2)
      assertFault(outcome, 'compression', /^bzip2: /)
      assert.ok(outcome.pages.length > 100 && outcome.pages.length < 3000, `${outcome.pages.length}`)
    }
    const damaged = gzipSync(Buffer.from(THREE))
    damaged.fill(0xff, 40, 60)
    assertFault(await read(damaged), 'compression', /^gzip: /)
    assertFault(await read(gzipSync(Buffer.from(THREE)).subarray(0, -40)), 'malformed', /unclosed tag/)
    assertFault(await read(Buffer.from('BZh9 nothing of the kind')), 'compression', /^bzip2: /)
  })

  it('wiki bytes: beyond the bound of the caller end the import, as it would a bomb', { skip: noBzip2 }, async () => {
    const filler = `<!--${' '.repeat(1000)}--><x/>`.repeat(30_000)
    const bomb = `${DUMP_BEGIN}${pageXml(pageOf('A', 'a'))}${filler}${DUMP_END}`
    for (const compressed of [gzipSync(Buffer.from(bomb)), bzip2(Buffer.from(bomb))]) {
      const outcome = await read(compressed, 64 * 1024, 10_000_000)
      assertFault(outcome, 'too-many-bytes', /^over 10000000 bytes decompressed$/)
      assert.deepEqual(titles(outcome.pages), ['A'])
    }
    const bytes = Buffer.byteLength(THREE)
    assert.equal((await read(THREE, 100, bytes)).error, undefined)
    assertFault(await read(THREE, 100, bytes - 1), 'too-many-bytes', /^over \d+ bytes/)
  })

  it('wiki bytes: of a source that fails give its error, whatever the compression', { skip: noBzip2 }, async () => {
    for (const bytes of [Buffer.from(THREE), gzipSync(Buffer.from(THREE)), bzip2(Buffer.from(THREE))]) {
      async function* failing(): AsyncGenerator<Uint8Array> {
        yield bytes.subarray(0, 100)
        throw new Error('the disk is gone')
      }
      await assert.rejects(async () => {
        for await (const _page of readDump(decompressDump(failing(), GIB)));
      }, /the disk is gone/)
    }
  })
})

describe('XML that is not well-formed', () => {
  it('wiki XML: is an error with line and column, behind the pages before it', async () => {
    const good = DUMP_BEGIN + pageXml(pageOf('A', 'a')) + pageXml(pageOf('B', 'b'))
    for (const [bad, message] of [
      ['<page></title>', /unexpected close tag.*\(line 42, column 15\)/],
      ['<page><title>&bogus;</title></page>', /undefined entity.*\(line 42, column \d+\)/],
      ['<page>\u0001', /disallowed character/],
      ['', /unclosed tag: mediawiki/],
    ] as const) {
      const outcome = await read(good + bad)
      assertFault(outcome, 'malformed', message)
      assert.deepEqual(titles(outcome.pages), ['A', 'B'], bad)
    }
  })

  it('wiki XML: and other files are no dump', async () => {
    for (const text of ['', ' ', '{"key": 1}', '<html><body/></html>', 'plain text', '\u0000\u0001'])
      assertFault(await read(text), 'not-a-dump', /line|not a dump/)
  })

  it('wiki XML: entities of a document type are not expanded, so billions of laughs cost nothing', async () => {
    const entities = Array.from({ length: 9 }, (_, level) => `<!ENTITY l${level + 1} "${`&l${level};`.repeat(10)}">`)
    const laughs = `<?xml version="1.0"?><!DOCTYPE mediawiki [<!ENTITY l0 "ha">${entities.join('')}]>${DUMP_BEGIN}<page><title>A</title><revision><text>&l9;</text></revision></page>${DUMP_END}`
    assertFault(await read(laughs), 'malformed', /undefined entity/)
  })

  it('wiki XML: nothing without an end is kept: tags, comments, attributes, titles, depth', async () => {
    const endless: readonly (readonly [string, RegExp])[] = [
      [`<page ${'a'.repeat(3e6)}`, /over 1048576 characters/],
      [`<!-- ${'a'.repeat(3e6)}`, /over 1048576 characters/],
      [`<page a="${'a'.repeat(3e6)}`, /over 1048576 characters/],
      [`<page><title>${'a'.repeat(1e5)}</title></page>`, /<page\/title> has over 4096/],
      ['<a>'.repeat(1e5), /nested deeper than 32/],
      [`<page><revision><text>${'a'.repeat(70e6)}`, /unclosed tag/],
      [`<page><revision><text><![CDATA[${'a'.repeat(70e6)}`, /over 67108864 characters/],
    ]
    for (const [text, message] of endless) {
      const { error } = await read(DUMP_BEGIN + text)
      assert.ok(error instanceof DumpError && message.test(error.message), String(error))
    }
  })

  it('wiki XML: and any damage to a dump is an error or other pages, never anything else', async () => {
    const bytes = Buffer.from(THREE)
    await holds(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 5 }), async (changes) => {
        const damaged = Buffer.from(bytes)
        for (const [at, byte] of changes) damaged[at] = byte
        const { error } = await read(damaged)
        assert.ok(error === undefined || error instanceof DumpError, String(error))
      }),
    )
  })
})

describe('sample dumps', () => {
  const folder = sharedPath('corpora/wiki')
  it(
    'wiki samples: are read to their ends',
    { skip: noBzip2 || (existsSync(folder) ? false : `SKIPPED, no corpus at ${folder}`) },
    async () => {
      const counts: Record<string, number> = {}
      for (const name of ['bgwiki-latest-pages-articles-shortened', 'enwiki-table-markup', 'testcorpus'])
        counts[name] = (await readWell(readFileSync(`${folder}/${name}.xml.bz2`))).length
      assert.deepEqual(counts, { 'bgwiki-latest-pages-articles-shortened': 3, 'enwiki-table-markup': 5, testcorpus: 9 })
    },
  )
})
