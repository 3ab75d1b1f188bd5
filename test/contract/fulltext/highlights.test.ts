/**
 * Highlights over HTTP: service-1, "Full-text search" (`highlight`, `highlightTag`, `maxHighlights`,
 * `fragmentSize`) and "Search result shapes".
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { FulltextClient, results } from './client.js'

interface Highlight {
  readonly fragment: string
  readonly matchedTerms: readonly string[]
  readonly startOffset: number
  readonly endOffset: number
  readonly startLine?: number
  readonly endLine?: number
}

const FILLER = 'Nothing is said here that anybody would look for, and it goes on like that for quite some time. '.repeat(3)
const RUNS = `${FILLER}The dog runs.\n\n${FILLER}It was running and has run far.\n\n${FILLER}A run. ${FILLER}Another [run](http://host.example/run).`

const DOCUMENTS = [
  { key: 'runs', lang: 'en', contentMd: RUNS },
  { key: 'short', lang: 'en', contentMd: 'Größe "quoted" — <b>Needle</b> \\ end' },
  { key: 'phrase', lang: 'en', contentMd: `log write. ${FILLER}ahead of it. ${FILLER}the write log stands here` },
  { key: 'src/user.js', lang: 'en', contentMd: 'import x\r\n\r\nfunction getUserName(id) {\r\n  return names[id]\r\n}\r\n' },
  { key: 'accents', lang: 'fr', contentMd: 'Les élèves du café' },
  {
    key: 'words',
    lang: 'en',
    contentMd: `Servers and a servre.\n\n${FILLER}A [Serving](http://host.example/servers) hatch; \`observers\` conserve.`,
  },
  { key: 'fr-words', lang: 'fr', contentMd: 'Des CAFÉS et des cafetières' },
  { key: 'src/serve.js', lang: 'en', contentMd: 'const httpServer = serveFiles(observer)\n' },
  { key: 'titled', lang: 'en', meta: { title: ['Zebra'] }, contentMd: 'Horses.' },
]

describe('highlights', () => {
  let client: FulltextClient
  before(async () => {
    client = await FulltextClient.shared()
    await client.add('highlights-notes', DOCUMENTS)
  })
  after(() => client.stop())

  async function highlightsOf(key: string, query: string, more: Record<string, unknown> = {}): Promise<readonly Highlight[]> {
    const found = results(await client.fts(query, { collection: 'highlights-notes', highlight: true, ...more }))
    const result = found.find(({ document }) => document.key === key)
    assert.ok(result, `${key} is found`)
    return (result as unknown as { readonly highlights: readonly Highlight[] }).highlights
  }

  it('are there with `highlight` only, as {fragment, matchedTerms, startOffset, endOffset}', async () => {
    for (const more of [{}, { highlight: false, highlightTag: '<b>' }])
      for (const result of results(await client.fts('needle', { collection: 'highlights-notes', ...more })))
        assert.ok(!('highlights' in result))
    assert.deepEqual(await highlightsOf('short', 'needle'), [
      { fragment: 'Größe "quoted" — <b><mark>Needle</mark></b> \\ end', matchedTerms: ['needl'], startOffset: 0, endOffset: 40 },
    ])
  })

  it('compare stems, leave link targets out, and stand in text order, best first chosen: 3 by default, about 150 bytes', async () => {
    const found = await highlightsOf('runs', 'runs')
    assert.equal(found.length, 3)
    assert.ok(found.some(({ fragment }) => fragment.includes('was <mark>running</mark> and has <mark>run</mark> far')))
    for (const { fragment, matchedTerms, startOffset, endOffset } of found) {
      assert.deepEqual(matchedTerms, ['run'])
      assert.ok(endOffset - startOffset <= 150, fragment)
      assert.ok(!fragment.includes('host.example/<mark>'), fragment)
      const text = fragment.replace(/<\/?mark>/g, '').replace(/^…|…$/g, '')
      assert.equal(Buffer.from(RUNS).toString('utf8', startOffset, endOffset), text)
    }
    const starts = found.map(({ startOffset }) => startOffset)
    assert.deepEqual(
      starts,
      [...starts].sort((a, b) => a - b),
    )
  })

  it('maxHighlights and fragmentSize set how many and how long; 0 is the default', async () => {
    const [only, ...rest] = await highlightsOf('runs', 'run', { maxHighlights: 1, fragmentSize: 40 })
    assert.equal(rest.length, 0)
    assert.match(only?.fragment ?? '', /^….*<mark>running<\/mark> and has <mark>run<\/mark>.*…$/)
    assert.ok((only?.endOffset ?? 0) - (only?.startOffset ?? 0) <= 40)
    assert.equal((await highlightsOf('runs', 'run', { maxHighlights: 100 })).length, 4)
    assert.deepEqual(await highlightsOf('runs', 'run', { maxHighlights: 0, fragmentSize: 0 }), await highlightsOf('runs', 'run'))
    for (const [field, value] of [
      ['maxHighlights', -1],
      ['fragmentSize', 1.5],
    ])
      assert.match(
        await client.refusal({ collection: 'highlights-notes', query: 'run', highlight: true, [field as string]: value }),
        /fragmentSize|maxHighlights/,
      )
  })

  it('the closing tag is derived from `highlightTag`', async () => {
    for (const [tag, marked] of [
      ['<em class="x">', '<em class="x">Needle</em>'],
      ['<b><i>', '<b><i>Needle</i></b>'],
      ['**', '**Needle**'],
      ['[[', '[[Needle]]'],
      ['"\\', '"\\Needle\\"'],
    ] as const) {
      const [highlight] = await highlightsOf('short', 'needle', { highlightTag: tag })
      assert.ok(highlight?.fragment.includes(`<b>${marked}</b>`), highlight?.fragment)
    }
    assert.match(
      await client.refusal({ collection: 'highlights-notes', query: 'run', highlight: true, highlightTag: 'x'.repeat(257) }),
      /^invalid highlightTag/,
    )
  })

  it('where the phrase stands comes before more hits of its words', async () => {
    const [first] = await highlightsOf('phrase', '"write log"', { maxHighlights: 1 })
    assert.match(first?.fragment ?? '', /<mark>write<\/mark> <mark>log<\/mark> stands/)
  })

  it('code documents have startLine and endLine, from 1 and inclusive; a part of an identifier is marked alone', async () => {
    assert.deepEqual(await highlightsOf('src/user.js', 'user', { fragmentSize: 30 }), [
      {
        fragment: '…function get<mark>User</mark>Name(id) {…',
        matchedTerms: ['user'],
        startOffset: 12,
        endOffset: 38,
        startLine: 3,
        endLine: 3,
      },
    ])
    const [whole] = await highlightsOf('src/user.js', 'getUserName', { fragmentSize: 1000 })
    assert.deepEqual([whole?.startLine, whole?.endLine], [1, 5])
    assert.ok(whole?.fragment.includes('<mark>getUserName</mark>'))
  })

  it('words with accents are marked for queries without, and a match in the metadata alone has none', async () => {
    const [accents] = await highlightsOf('accents', 'cafe', { lang: 'fr' })
    assert.match(accents?.fragment ?? '', /<mark>café<\/mark>/)
    assert.deepEqual(await highlightsOf('titled', 'zebra', { algorithm: 'bm25f' }), [])
  })

  it('matches of a fuzzy word or pattern are marked as written, and are among the matched terms', async () => {
    const marks = (found: readonly Highlight[]): string[] =>
      found.flatMap(({ fragment }) => [...fragment.matchAll(/<mark>(.*?)<\/mark>/g)].map(([, word = '']) => word))
    const terms = (found: readonly Highlight[]): string[] => [...new Set(found.flatMap(({ matchedTerms }) => matchedTerms))].sort()
    const all = { fragmentSize: 2000 }
    const fuzzy = await highlightsOf('words', 'servers', { ...all, fuzzy: 2, disableStem: true })
    assert.deepEqual(
      [marks(fuzzy), terms(fuzzy)],
      [
        ['Servers', 'servre'],
        ['servers~server', 'servers~servr'],
      ],
    )
    const stemmed = await highlightsOf('words', 'servr', { ...all, fuzzy: 1 })
    assert.deepEqual(
      [marks(stemmed), terms(stemmed)],
      [
        ['Servers', 'servre', 'Serving'],
        ['servr', 'servr~serv', 'servr~server'],
      ],
    )
    const prefix = await highlightsOf('words', 'serv*', { ...all, mode: 'wildcard' })
    assert.deepEqual(
      [marks(prefix), terms(prefix)],
      [
        ['Servers', 'servre', 'Serving'],
        ['serv', 'server', 'servr'],
      ],
    )
    const middle = await highlightsOf('words', '*serv', { ...all, mode: 'wildcard' })
    assert.deepEqual(
      [marks(middle), terms(middle)],
      [
        ['Serving', 'observers', 'conserve'],
        ['conserv', 'observ', 'serv'],
      ],
    )
    assert.deepEqual(marks(await highlightsOf('fr-words', 'cafe*', { ...all, mode: 'wildcard', lang: 'fr' })), ['CAFÉS', 'cafetières'])
    assert.deepEqual(marks(await highlightsOf('src/serve.js', 'serv*', { ...all, mode: 'wildcard' })), ['Server', 'serveFiles'])
    assert.deepEqual(marks(await highlightsOf('src/serve.js', 'servr', { ...all, fuzzy: 1 })), ['Server', 'serve'])
  })

  it('are the same each time that a document is shown, and those of its content by then', async () => {
    const add = (contentMd: string): Promise<unknown> => client.add('highlights-again', [{ key: 'zh', lang: 'zh', contentMd }, { key: 'en', lang: 'en', contentMd: RUNS }]) // prettier-ignore
    const show = async (query: string): Promise<unknown> =>
      results(await client.fts(query, { collection: 'highlights-again', lang: query === 'run' ? 'en' : 'zh', highlight: true })).map(
        (result) => (result as unknown as { readonly highlights: unknown }).highlights,
      )
    for (const contentMd of ['我们在北京大学读书\n\n`北京`', `${FILLER}北京 "${FILLER}`]) {
      await add(contentMd)
      for (const query of ['北京', 'run']) {
        const first = await show(query)
        assert.match(JSON.stringify(first), /<mark>/)
        for (let time = 2; time <= 4; time++) assert.deepEqual(await show(query), first)
      }
    }
  })

  it('the GET form takes the same parameters', async () => {
    const answer = await client.request(
      'GET',
      '/v1/fts?collection=highlights-notes&q=needle&highlight=true&highlightTag=%3Cb%3E&maxHighlights=1&fragmentSize=6',
    )
    const [result] = results(answer) as unknown as readonly { readonly highlights: readonly Highlight[] }[]
    assert.deepEqual(result?.highlights, [{ fragment: '…<b>Needle</b>…', matchedTerms: ['needl'], startOffset: 24, endOffset: 30 }])
  })
})
