/**
 * service-1, "What the service does": stemming and stop words in 18 languages. Every language over HTTP, with
 * words of the golden lists, whose stems an independent implementation computed (the Polish list was written
 * and reviewed by hand for this project).
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { type Server, startServer } from '../../harness/server/server.js'

const LANGUAGES = ['en', 'pl', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'ru', 'sv', 'no', 'da', 'fi', 'hu', 'ro', 'tr', 'ar', 'ta'] as const
const WORDS_OF_EACH = 20

/** Words of a language that the stemmer changes, with their stems. */
function stemmed(language: string): (readonly [word: string, stem: string])[] {
  const read = (name: string): unknown => JSON.parse(readFileSync(`test/golden/analyzer/${name}.json`, 'utf8'))
  const pairs =
    language === 'pl'
      ? (read('polish') as { readonly words: readonly { readonly stem: string; readonly forms: string }[] }).words.map(
          ({ stem, forms }) => [forms.split(' ').at(-1) ?? '', stem] as const,
        )
      : (read('snowball') as Record<string, readonly string[]>)[language]!.map(
          (line) => line.split(' ') as unknown as readonly [string, string],
        )
  return pairs.filter(([word, stem]) => word !== stem && stem !== '').slice(0, WORDS_OF_EACH)
}

interface Found {
  readonly document: { readonly key: string }
  readonly matchedTerms: readonly string[]
}

describe('"stemming and stop words in 18 languages"', () => {
  let server: Server
  before(async () => {
    server = await startServer({})
  })
  after(() => server.stop())

  it('/v1/fts-languages names the 18 languages of the contract', async () => {
    const answer = (await server.get('/v1/fts-languages')).json<{ readonly languages: readonly { readonly code: string }[] }>()
    const codes = answer.languages.map(({ code }) => code)
    for (const language of LANGUAGES) assert.ok(codes.includes(language), language)
  })

  it('in each of the 18 languages a query meets documents by their stems', async () => {
    for (const language of LANGUAGES) await meetsByStems(server, language)
  })
})

async function meetsByStems(server: Server, language: string): Promise<void> {
  const words = stemmed(language)
  assert.ok(words.length > 0, `the golden list has ${language} words that are stemmed`)
  const documents = words.map(([word], index) => ({ key: `${index}`, lang: language, contentMd: `# ${word}\n` }))
  const added = await server.post('/v1/add-batch', { collection: `words-${language}`, documents })
  assert.equal(added.json<{ readonly added: number }>().added, words.length)
  for (const [index, [word, stem]] of words.entries()) {
    const answer = await server.post('/v1/fts', { collection: `words-${language}`, query: word, lang: language, mode: 'simple' })
    const { results } = answer.json<{ readonly results: readonly Found[] }>()
    const keys = results.map((result) => result.document.key)
    assert.ok(keys.includes(`${index}`), `${language}: ${word} is found`)
    assert.deepEqual(results[0]?.matchedTerms, [stem], `${language}: ${word} is looked up as ${stem}`)
  }
}
