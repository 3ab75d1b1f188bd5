/**
 * Wildcard, proximity and expression queries, fuzzy words, pmisparse, and answer fields beyond the contract,
 * over HTTP. Service-1 ("Full-text search"), algorithms.md sections 2 to 4.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { FulltextClient, results } from './client.js'

interface Explanation {
  readonly score: number
  readonly factor: number
  readonly parts: readonly { readonly terms: readonly string[]; readonly field: string; readonly tf: number; readonly score: number }[]
}

const near = (one: number, other: number): boolean => Math.abs(one - other) <= 1e-9 * Math.max(1, Math.abs(other))

describe('full-text modes', () => {
  let client: FulltextClient
  before(async () => {
    client = await FulltextClient.shared()
  })
  after(() => client.stop())

  describe('wildcard', () => {
    it('* is any run and ? one character, anywhere in the term', async () => {
      assert.deepEqual(await client.keys('neigh*', { mode: 'wildcard' }), ['vec'])
      assert.deepEqual(await client.keys('*bour', { mode: 'wildcard' }), ['vec'])
      assert.deepEqual(await client.sortedKeys('l?g', { mode: 'wildcard' }), ['lsm', 'raft', 'wal'])
      assert.deepEqual(await client.sortedKeys('?og', { mode: 'wildcard' }), ['lsm', 'raft', 'wal'])
      assert.deepEqual(await client.keys('lo?g', { mode: 'wildcard' }), [])
    })

    it('auto recognises it, but not the question mark of a question nor emphasis', async () => {
      for (const [query, mode] of [
        ['repl*', 'wildcard'],
        ['l?g', 'wildcard'],
        ['what is a log?', 'simple'],
        ['**log**', 'simple'],
        ['5 * 4', 'simple'],
        ['repl* AND log', 'boolean'],
      ] as const)
        assert.equal((await client.fts(query)).body.mode, mode, query)
      assert.deepEqual(await client.keys('repl*'), ['raft'])
    })

    it('shows the terms found, and takes plain words beside it', async () => {
      const [first] = results(await client.fts('repl* neighbours', { mode: 'wildcard', filterMeta: { tags: ['network'] } }))
      assert.deepEqual(first?.matchedTerms.toSorted(), ['replic', 'replica'])
      assert.deepEqual(await client.sortedKeys('repl* neighbours', { mode: 'wildcard' }), ['raft', 'vec'])
    })

    it('says so where the index has more terms than a pattern may stand for', async () => {
      const words = Array.from({ length: 1100 }, (_, at) => `w${at}`).join(' ')
      await client.add('fulltext_modes-many', [{ key: 'words', lang: 'en', contentMd: words }])
      for (const [query, isCut] of [
        ['w*', true],
        ['w10*', undefined],
      ] as const) {
        const { body } = await client.fts(query, { collection: 'fulltext_modes-many', mode: 'wildcard' })
        assert.deepEqual([body.total, body.expansionsCut], [1, isCut])
      }
    })

    it('is read in lower case, matches a prefix longer than the stem, and ignores separators of words', async () => {
      assert.deepEqual(await client.keys('NEIGH*', { mode: 'wildcard' }), ['vec'])
      assert.deepEqual(await client.keys('running*', { mode: 'wildcard' }), ['wal'])
      assert.deepEqual(await client.keys('write-ahe*', { mode: 'wildcard' }), ['wal'])
      assert.deepEqual(
        await client.keys('Häf*', { mode: 'wildcard', lang: 'de' }),
        await client.keys('häf*', { mode: 'wildcard', lang: 'de' }),
      )
    })
  })

  describe('proximity', () => {
    it('finds two words within the distance, in either order, nearer ones higher', async () => {
      assert.deepEqual(await client.keys('replicas log', { mode: 'proximity' }), ['raft'])
      assert.deepEqual(await client.keys('log replicas', { mode: 'proximity', distance: 4 }), ['raft'])
      assert.deepEqual(await client.keys('replicas log', { mode: 'proximity', distance: 3 }), [])
      assert.equal(results(await client.fts('write log', { mode: 'proximity', distance: 5 }))[0]?.score, 4 / 6)
    })

    it('is 5 by default, also where the request says 0, and refused below', async () => {
      await client.add('fulltext_modes-apart', [
        { key: 'five', lang: 'en', contentMd: 'alpha b c d e omega' },
        { key: 'six', lang: 'en', contentMd: 'alpha b c d e f omega' },
      ])
      for (const more of [{}, { distance: 0 }, { distance: null }])
        assert.deepEqual(await client.keys('alpha omega', { collection: 'fulltext_modes-apart', mode: 'proximity', ...more }), ['five'])
      assert.match(
        await client.refusal({ collection: 'fulltext_modes-apart', query: 'alpha omega', mode: 'proximity', distance: -1 }),
        /^invalid/,
      )
    })

    it('takes the distance from the query, as "…"~N', async () => {
      const answer = await client.fts('"alpha omega"~6', { collection: 'fulltext_modes-apart' })
      assert.equal(answer.body.mode, 'proximity')
      assert.deepEqual(
        results(answer).map(({ document, matchedTerms }) => [document.key, matchedTerms]),
        [
          ['five', ['alpha', 'omega']],
          ['six', ['alpha', 'omega']],
        ],
      )
    })

    it('of one word is that word', async () => assert.deepEqual(await client.keys('replicas', { mode: 'proximity' }), ['raft']))
  })

  describe('expression', () => {
    it('nests all operators, with precedence', async () => {
      const found = (query: string) => client.sortedKeys(query, { mode: 'expression' })
      assert.deepEqual(await found('neighbours OR tree AND log'), ['lsm', 'vec'])
      assert.deepEqual(await found('(neighbours OR tree) AND log'), ['lsm'])
      assert.deepEqual(await found('log AND NOT (tree OR (replicas AND commands))'), ['wal'])
      assert.deepEqual(await found('NOT (NOT tree) log'), ['lsm'])
      assert.deepEqual(await found('log -tree'), ['raft', 'wal'])
      assert.deepEqual(await found('"merge tree" or "write ahead log"~3'), ['lsm', 'wal'])
      assert.deepEqual(await found('(repl* and log) or neigbours~1'), ['raft', 'vec'])
      assert.deepEqual(await found('NOT log'), [])
    })

    it('looks in one field where a clause says so, whatever the algorithm scores', async () => {
      for (const algorithm of ['tfidf', 'bm25', 'bm25f', 'pmisparse']) {
        const found = (query: string) => client.sortedKeys(query, { mode: 'expression', algorithm })
        assert.deepEqual(await found('title:log'), ['vec', 'wal'])
        assert.deepEqual(await found('meta.title:log AND content:log'), ['wal'])
        assert.deepEqual(await found('title:"merge trees"'), ['lsm'])
        assert.deepEqual(await found('tags:(network OR search)'), ['raft', 'vec'])
        assert.deepEqual(await found('title:conse* replicas'), ['raft'])
        assert.deepEqual(await found('title:vektor~1'), ['vec'])
        assert.deepEqual(await found('nofield:log'), [])
      }
    })

    it('an invalid query is refused with the position of the error', async () => {
      for (const [query, text] of [
        ['log AND', 'unexpected token end of query at character 8'],
        ['(log', "expected ')' at character 5"],
        ['log)', "unexpected token ')' at character 4"],
        ['title:', undefined],
        ['"log', 'unclosed quote at character 1'],
        [' ', 'empty query expression'],
      ] as const) {
        if (text === undefined) assert.equal((await client.fts(query, { mode: 'expression' })).status, 200)
        else assert.equal(await client.refusal({ collection: client.blog, query, mode: 'expression' }), text)
      }
    })
  })

  describe('fuzzy', () => {
    it('finds words within 1 or 2 edits, a transposition being one, and says so', async () => {
      assert.deepEqual(await client.keys('replacas'), [])
      assert.deepEqual(await client.keys('replacas', { fuzzy: 1 }), ['raft'])
      assert.deepEqual(await client.keys('enarest', { fuzzy: 1 }), ['vec'])
      assert.deepEqual(await client.keys('naerset', { fuzzy: 1 }), [])
      const answer = await client.fts('naerset', { fuzzy: 2 })
      assert.equal(answer.body.fuzzy, 2)
      assert.deepEqual(results(answer)[0]?.matchedTerms, ['naerset~nearest'])
    })

    it('closer matches score higher, and the exact word is kept', async () => {
      await client.add('fulltext_modes-typos', [
        { key: 'far', lang: 'en', contentMd: 'sorver filler' },
        { key: 'near', lang: 'en', contentMd: 'servar filler' },
        { key: 'exact', lang: 'en', contentMd: 'server filler' },
      ])
      const found = results(
        await client.fts('server', { collection: 'fulltext_modes-typos', fuzzy: 2, disableStem: true, algorithm: 'bm25' }),
      )
      assert.equal(found[0]?.document.key, 'exact')
      assert.deepEqual(found[0]?.matchedTerms, ['server'])
    })

    it('is for simple mode; other values than 0, 1, 2 are refused', async () => {
      assert.equal((await client.fts('log AND tree', { fuzzy: 2 })).body.fuzzy, 0)
      for (const fuzzy of [-1, 3, 1.5]) assert.match(await client.refusal({ collection: client.blog, query: 'log', fuzzy }), /^invalid/)
      assert.deepEqual(await client.sortedKeys('log', { fuzzy: null }), ['lsm', 'raft', 'wal'])
    })
  })

  describe('pmisparse', () => {
    it('adds words that stand beside those of the query, shown with a ~ in front', async () => {
      const pairs = Array.from({ length: 6 }, (_, at) => ({ key: `pair${at}`, lang: 'en', contentMd: `kafka broker topic${at} sentence` }))
      const others = Array.from({ length: 12 }, (_, at) => ({
        key: `other${at}`,
        lang: 'en',
        contentMd: `pancake flour sugar${at}`,
      }))
      await client.add('fulltext_modes-pmi', [...pairs, ...others, { key: 'alone', lang: 'en', contentMd: 'a broker sells houses' }])
      assert.equal((await client.keys('kafka', { collection: 'fulltext_modes-pmi', algorithm: 'bm25' })).length, 6)
      const answer = await client.fts('kafka', { collection: 'fulltext_modes-pmi', algorithm: 'pmisparse' })
      const found = results(answer)
      assert.equal(answer.body.algorithm, 'pmisparse')
      assert.deepEqual(
        found.find(({ document }) => document.key === 'alone')?.matchedTerms.filter((term) => !term.startsWith('~broker')),
        [],
      )
      assert.ok(found[0]?.matchedTerms.includes('kafka'))
      assert.equal(found.at(-1)?.document.key, 'alone')
      assert.deepEqual(
        await client.sortedKeys('kafka AND sentence', { collection: 'fulltext_modes-pmi', algorithm: 'pmisparse' }),
        pairs.map(({ key }) => key),
      )
    })

    it('learns from later writes', async () => {
      await client.add('fulltext_modes-pmi2', [{ key: 'first', lang: 'en', contentMd: 'gopher' }])
      assert.deepEqual(await client.keys('gopher', { collection: 'fulltext_modes-pmi2', algorithm: 'pmisparse' }), ['first'])
      const filler = Array.from({ length: 8 }, (_, at) => ({ key: `f${at}`, lang: 'en', contentMd: `unrelated${at}` }))
      await client.add('fulltext_modes-pmi2', [
        { key: 'a', lang: 'en', contentMd: 'gopher burrow' },
        { key: 'b', lang: 'en', contentMd: 'burrow gopher' },
        { key: 'c', lang: 'en', contentMd: 'burrow' },
        ...filler,
      ])
      assert.deepEqual(await client.sortedKeys('gopher', { collection: 'fulltext_modes-pmi2', algorithm: 'pmisparse' }), [
        'a',
        'b',
        'c',
        'first',
      ])
    })
  })

  describe('beyond the contract', () => {
    it('explain says what each score is made of; the parts sum to it', async () => {
      for (const request of [
        { query: 'log vectors', algorithm: 'tfidf' },
        { query: 'log tree', algorithm: 'bm25' },
        { query: 'log storage', algorithm: 'bm25f' },
        { query: 'log', algorithm: 'pmisparse' },
        { query: 'log tree', algorithm: 'bm25', boost: { 'tags:storage': 3, 'tags:network': -2 } },
        { query: '"merge tree"', mode: 'phrase' },
        { query: 'replicas log', mode: 'proximity' },
        { query: 'l*g', mode: 'wildcard' },
        { query: 'lag tree', fuzzy: 1 },
        { query: '(log AND tree) OR neighbours', mode: 'expression' },
      ]) {
        const found = results(await client.fts(request.query, { ...request, explain: true }))
        assert.ok(found.length > 0, JSON.stringify(request))
        for (const { score, ...result } of found) {
          const { explanation } = result as unknown as { readonly explanation: Explanation }
          assert.ok(near(explanation.score, score), JSON.stringify({ request, score, explanation }))
          const sum = explanation.parts.reduce((total, part) => total + part.score, 0) * explanation.factor
          assert.ok(near(sum, score), JSON.stringify({ request, sum, explanation }))
          assert.ok(explanation.parts.every(({ terms }) => terms.length > 0))
        }
      }
      assert.ok(!('explanation' in (results(await client.fts('log'))[0] as object)))
    })

    it('offset passes over the results of earlier pages, which together are the whole list', async () => {
      const documents = Array.from({ length: 40 }, (_, at) => ({
        key: `p${String(at).padStart(2, '0')}`,
        lang: 'en',
        contentMd: 'same words here',
      }))
      await client.add('fulltext_modes-pages', documents)
      const whole = await client.keys('same words', { collection: 'fulltext_modes-pages' })
      assert.deepEqual(
        whole,
        documents.map(({ key }) => key),
      )
      const pages: string[] = []
      for (let offset = 0; offset < 45; offset += 7) {
        const answer = await client.fts('same words', { collection: 'fulltext_modes-pages', limit: 7, offset })
        assert.equal(answer.body.offset, offset === 0 ? undefined : offset)
        pages.push(...results(answer).map(({ document }) => document.key))
      }
      assert.deepEqual(pages, whole)
      assert.match(await client.refusal({ collection: 'fulltext_modes-pages', query: 'same', offset: 99_999 }), /^invalid offset/)
      assert.match(await client.refusal({ collection: 'fulltext_modes-pages', query: 'same', offset: -1 }), /^invalid offset/)
    })

    it('count gives the number of all matches, took the milliseconds', async () => {
      const { body } = await client.fts('same', { collection: 'fulltext_modes-pages', limit: 3, offset: 6, count: true })
      assert.equal(body.totalMatches, 40)
      assert.equal(body.total, 3)
      assert.ok(typeof body.took === 'number' && body.took >= 0)
    })
  })
})
