/** Which pages of a dump become documents, with which key and metadata, and how the others are counted. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readDump } from '../../../../src/conversion/wiki/dump_reader.js'
import type { WikiCounts, WikiItem, WikiOptions } from '../../../../src/conversion/wiki/page_document.js'
import { noPages, wikiDocuments } from '../../../../src/conversion/wiki/page_document.js'
import type { DumpPage } from '../../../harness/wiki_dumps.js'
import { dumpXml, inChunks, pageOf } from '../../../harness/wiki_dumps.js'

const OPTIONS: WikiOptions = { lang: 'de', namespaces: new Set([0]), skipRedirects: false, maxPages: 0 }

async function convert(
  pages: readonly DumpPage[],
  options: Partial<WikiOptions> = {},
  counts: WikiCounts = noPages(),
): Promise<WikiItem[]> {
  const items: WikiItem[] = []
  const dump = readDump(inChunks(Buffer.from(dumpXml(pages))))
  for await (const item of wikiDocuments(dump, { ...OPTIONS, ...options }, counts)) items.push(item)
  return items
}

const titles = (items: readonly WikiItem[]): string[] => items.map(({ title }) => title)

const PAGES: readonly DumpPage[] = [
  pageOf('AC/DC', "''a'' [[Ablage:x.jpg]][[Fach:y]]"),
  pageOf('Talk:AC/DC', 'talk', { ns: 1 }),
  pageOf('Acdc', '#WEITERLEITUNG [[AC/DC]]\n[[Fach:y]]', { redirect: 'AC/DC' }),
  pageOf('Nothing', '{{only|a|template}}'),
  pageOf('B', 'b'),
]

describe('a page of a wiki as a document', () => {
  it('wiki document: has a key of its title, the language asked for, and all the fields of the page as metadata', async () => {
    const revision = { id: 12, timestamp: '2021-02-03T04:05:06Z', user: 'Ü', text: "''a'' [[Ablage:x.jpg]]" }
    const [item] = await convert([{ title: 'AC/DC (Band)', id: 11, revisions: [revision] }])
    assert.deepEqual(item, {
      title: 'AC/DC (Band)',
      document: {
        key: 'ac-dc-band',
        lang: 'de',
        meta: {
          source: ['wikipedia'],
          wiki_id: ['11'],
          wiki_title: ['AC/DC (Band)'],
          wiki_ns: ['0'],
          wiki_rev_id: ['12'],
          wiki_timestamp: ['2021-02-03T04:05:06Z'],
          wiki_contributor: ['Ü'],
        },
        contentMd: '*a*',
      },
    })
  })

  it('wiki document: that leads to another has its title as wiki_redirect, and a content that is no list', async () => {
    const redirect = (await convert(PAGES))[1]
    assert.ok(redirect !== undefined && 'document' in redirect)
    assert.deepEqual(redirect.document.meta['wiki_redirect'], ['AC/DC'])
    assert.equal(redirect.document.contentMd, 'WEITERLEITUNG AC/DC')
  })

  it('wiki document: names the contributor by IP address where there is no user name, and not at all where there is none', async () => {
    const items = await convert([
      pageOf('A', 'a', { revisions: [{ ip: '2001:db8::1', text: 'a' }] }),
      pageOf('B', 'b', { revisions: [{ text: 'b' }] }),
    ])
    assert.deepEqual(
      items.map((item) => 'document' in item && item.document.meta['wiki_contributor']),
      [['2001:db8::1'], undefined],
    )
  })
})

describe('the pages of a dump', () => {
  it('wiki pages: of other namespaces, redirects on request, and without text are left out and counted', async () => {
    const counts = noPages()
    assert.deepEqual(titles(await convert(PAGES, { skipRedirects: true }, counts)), ['AC/DC', 'B'])
    assert.deepEqual(counts, { pages: 5, imported: 2, failed: 0, otherNamespace: 1, redirects: 1, empty: 1 })
    assert.deepEqual(titles(await convert(PAGES, { namespaces: new Set([1]) })), ['Talk:AC/DC'])
    assert.deepEqual(titles(await convert(PAGES, { namespaces: new Set([0, 1]) })), ['AC/DC', 'Talk:AC/DC', 'Acdc', 'B'])
  })

  it('wiki pages: end with the last one that may be imported, whatever was left out before', async () => {
    const counts = noPages()
    assert.deepEqual(titles(await convert(PAGES, { maxPages: 2, skipRedirects: true }, counts)), ['AC/DC', 'B'])
    assert.deepEqual(titles(await convert(PAGES, { maxPages: 1 }, counts)), [])
    assert.deepEqual(titles(await convert(PAGES, { maxPages: 3 })), ['AC/DC', 'Acdc', 'B'])
  })

  it('wiki pages: continue behind those that are counted already', async () => {
    const whole = noPages()
    const items = await convert(PAGES, {}, whole)
    const counts: WikiCounts = { ...noPages(), pages: 2, imported: 1, otherNamespace: 1 }
    assert.deepEqual(await convert(PAGES, {}, counts), items.slice(1))
    assert.deepEqual(counts, whole)
  })

  it('wiki pages: without a key or with too long a text are named as problems', async () => {
    const counts = noPages()
    const items = await convert([pageOf('"(.)"', 'a'), pageOf('long', 'x'.repeat(17 * 1024 * 1024)), pageOf('B', 'b')], {}, counts)
    assert.deepEqual(items.slice(0, 2), [
      { title: '"(.)"', problem: 'its title gives an empty key' },
      { title: 'long', problem: 'its text is longer than a document may be' },
    ])
    assert.deepEqual([counts.imported, counts.failed], [1, 2])
  })
})
