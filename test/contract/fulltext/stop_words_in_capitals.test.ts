/**
 * Stop words in capitals and other clauses that are nothing but stop words: they vanish as in lower case, and
 * never empty a conjunction (decisions 0020, 0070).
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type DocumentJson, DocumentsClient, type Fields } from '../../harness/clients/documents_client.js'

const TITLES = [
  'BEAUTY AND THE BEAST',
  'IT AND DEPARTMENT',
  'THE GOOD, THE BAD AND THE UGLY',
  'GONE WITH THE WIND',
  'LORD OF THE RINGS',
  'DO NOT DISTURB',
  'NOT WITHOUT MY DAUGHTER',
  'DEAD OR ALIVE',
  'TO BE OR NOT TO BE',
  'WHAT NOT TO WEAR',
  'THE PRIDE AND THE PASSION',
  'HOW IT WORKS AND WHY IT FAILS',
  'ALL THAT JAZZ',
  'A FISTFUL OF DOLLARS',
  'READY OR NOT',
]

interface Answer {
  readonly results: readonly { readonly document: DocumentJson; readonly highlights?: readonly { readonly fragment: string }[] }[]
  readonly mode: string
}

let client: DocumentsClient

before(async () => {
  client = await DocumentsClient.shared()
  await client.addBatch(
    'titles',
    TITLES.map((title) => ({ key: title.toLowerCase().replaceAll(/\W+/g, '-'), lang: 'en', contentMd: `# ${title}\n\nwords`, meta: {} })),
  )
  await client.add('stop_words_in_capitals-tale', 'beast', {
    contentMd: 'Beauty and the beast of the IT department',
    meta: { title: ['The beast'] },
  })
  await client.add('stop_words_in_capitals-tale', 'other', { contentMd: 'A beast without company', meta: { title: ['Other'] } })
  await client.add('stop_words_in_capitals-code', 'check.py', { contentMd: 'def is_a(the, beast):\n    return to_be', meta: {} })
  await client.add('stop_words_in_capitals-code', 'prose', { contentMd: 'The beast is a poem: to be, or not to be a beast', meta: {} })
})
after(() => client.stop())

async function ask(collection: string, query: string, fields: Fields = {}): Promise<Answer> {
  const answer = await client.post('/v1/fts', { collection, query, limit: 50, ...fields })
  assert.equal(answer.status, 200, answer.text)
  return answer.json<Answer>()
}
const keys = async (collection: string, query: string, fields: Fields = {}): Promise<string[]> =>
  (await ask(collection, query, fields)).results.map(({ document }) => document.key).sort()

describe('stop words in capitals', () => {
  it('fts: every title in capitals finds its document', async () => {
    const lost: string[] = []
    for (const title of TITLES) {
      for (const fields of [{}, { algorithm: 'bm25' }, { algorithm: 'bm25f' }, { algorithm: 'pmisparse' }]) {
        const found = await ask('titles', title, fields)
        if (!found.results.some(({ document }) => document.contentMd.includes(`# ${title}\n`))) lost.push(`${title} (${found.mode})`)
      }
    }
    assert.deepEqual(lost, [])
  })

  it('fts: a stop word in capitals vanishes from a conjunction, as it does in lower case', async () => {
    for (const word of ['the', 'THE', 'The', 'tHE']) {
      assert.deepEqual(await keys('stop_words_in_capitals-tale', `beauty AND ${word} beast`), ['beast'], word)
      assert.deepEqual(await keys('stop_words_in_capitals-tale', `+${word} +beauty`, { mode: 'boolean' }), ['beast'], word)
      assert.deepEqual(await keys('stop_words_in_capitals-tale', `+${word} beast`), ['beast', 'other'], word)
      assert.deepEqual(await keys('stop_words_in_capitals-tale', `beast NOT ${word}`), ['beast', 'other'], word)
      assert.deepEqual(
        await keys('stop_words_in_capitals-tale', `(${word} AND beauty) OR company`, { mode: 'expression' }),
        ['beast', 'other'],
        word,
      )
      assert.deepEqual(await keys('stop_words_in_capitals-tale', `title:${word} AND title:beast`, { mode: 'expression' }), ['beast'], word)
      assert.deepEqual(await keys('stop_words_in_capitals-tale', `"${word}" AND beauty`), ['beast'], word)
      assert.deepEqual(await keys('stop_words_in_capitals-tale', `"${word}" "beauty"`, { mode: 'phrase' }), ['beast'], word)
      assert.deepEqual(await keys('stop_words_in_capitals-tale', `"${word} beast"`), ['beast', 'other'], word)
      assert.deepEqual(await keys('stop_words_in_capitals-tale', `"beauty ${word} beast"~4`), ['beast'], word)
      assert.deepEqual(await keys('stop_words_in_capitals-tale', `${word}-beau*`), ['beast'], word)
      assert.deepEqual(await keys('stop_words_in_capitals-tale', word), [], word)
    }
    assert.deepEqual(await keys('stop_words_in_capitals-tale', 'IT AND department'), ['beast'])
  })

  it('fts: stop words of the collection vanish in capitals, too', async () => {
    await client.post('/v1/stopwords', { collection: 'stop_words_in_capitals-tale', words: ['company', 'beauty'] })
    for (const word of ['company', 'COMPANY']) {
      assert.deepEqual(await keys('stop_words_in_capitals-tale', `${word} AND department`), ['beast'], word)
      assert.deepEqual(await keys('stop_words_in_capitals-tale', `+${word} department`), ['beast'], word)
      assert.deepEqual(await keys('stop_words_in_capitals-tale', word), [], word)
    }
    await client.server.request('DELETE', '/v1/stopwords', { collection: 'stop_words_in_capitals-tale', words: ['company', 'beauty'] })
  })

  it('fts: an identifier or phrase of stop words is found in code, and is not required of prose', async () => {
    assert.deepEqual(await keys('stop_words_in_capitals-code', 'THE'), [], 'in capitals it is no identifier')
    assert.deepEqual(await keys('stop_words_in_capitals-code', 'is_a'), ['check.py'])
    assert.deepEqual(await keys('stop_words_in_capitals-code', 'is_a AND beast'), ['check.py', 'prose'])
    assert.deepEqual(await keys('stop_words_in_capitals-code', '"to be" AND beast'), ['check.py', 'prose'])
    assert.deepEqual(await keys('stop_words_in_capitals-code', '+is_a +poem'), ['prose'])
    assert.deepEqual(await keys('stop_words_in_capitals-code', '(is_a OR "to be") AND poem'), ['prose'])
    assert.deepEqual(await keys('stop_words_in_capitals-code', 'beast NOT is_a'), ['prose'])
    assert.deepEqual(await keys('stop_words_in_capitals-code', 'is_a AND to_be'), ['check.py'])
    const [first] = (await ask('stop_words_in_capitals-code', 'is_a AND beast')).results
    assert.equal(first?.document.key, 'check.py', 'the identifier adds score')
  })

  it('fts: highlights, explanations and hybrid searches of a query with a stop word in capitals', async () => {
    const { results } = await ask('stop_words_in_capitals-tale', 'beauty AND THE beast', { highlight: true, explain: true })
    assert.match(results[0]?.highlights?.[0]?.fragment ?? '', /<mark>Beauty<\/mark> and the <mark>beast<\/mark>/)
    const hybrid = await client.post('/v1/hybrid-search', { collection: 'stop_words_in_capitals-tale', query: 'THE BEAUTY' })
    assert.deepEqual(hybrid.json<Answer>().results.map(({ document }) => document.key), ['beast']) // prettier-ignore
  })
})
