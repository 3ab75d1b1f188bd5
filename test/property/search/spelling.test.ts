/**
 * Completions and corrections over a running server, for small random collections. Completions equal a scan
 * of the documents' words. Suggestions are stop words or words whose stems occur in the documents, within the
 * edits permitted for a word of that length. Known words are never changed. The independent parts of the
 * correction are also compared with plain models.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { applyCorrections } from '../../../src/domain/spell/corrector.js'
import { wordsOfText } from '../../../src/domain/spell/text_words.js'
import { WordList } from '../../../src/domain/spell/word_list.js'
import { DEFAULT_STOP_WORDS } from '../../../src/domain/words/default_stop_words.js'
import { foldLetters } from '../../../src/domain/words/surface_words.js'
import { createAnalyzer } from '../../../src/engine/text/analyzer.js'
import { editDistance } from '../../../src/engine/text/edit_distance.js'
import { DocumentsClient } from '../../harness/clients/documents_client.js'
import { holds } from '../../harness/property.js'

const VOCABULARY = [
  'configure', 'configures', 'configuration', 'configurations', 'config', 'connect', 'connection', 'connected', 'library', 'libraries', 'librarian', 'happy', 'happiness', 'run', 'running', 'runs',
  'relate', 'relational', 'database', 'databases', 'data', 'date', 'city', 'cities', 'win32', 'windows', 'window', 'naïve', 'café', 'x1',
] // prettier-ignore
const analyzer = createAnalyzer()
const stemOf = (word: string): string => analyzer.tokenize(word, { language: 'en', stem: true, markdown: false })[0]?.term ?? ''

const document = fc.array(fc.constantFrom(...VOCABULARY), { minLength: 1, maxLength: 8 })
/** Within the number of documents examined for the words of a term, so that the result is deterministic. */
const documents = fc.array(document, { minLength: 1, maxLength: 3 })
const beginning = fc
  .constantFrom(...VOCABULARY)
  .chain((word) => fc.integer({ min: 1, max: word.length }).map((length) => word.slice(0, length)))

interface Item {
  readonly term: string
  readonly docCount: number
}

/** The commonest word of each stem with the typed prefix, with the documents of the stem. */
function scan(texts: readonly (readonly string[])[], prefix: string): Item[] {
  const stems = new Map<string, Map<string, readonly [documents: number, occurrences: number]>>()
  for (const words of texts)
    for (const word of new Set(words)) {
      const forms = stems.get(stemOf(word)) ?? new Map<string, readonly [number, number]>()
      const [seen, occurrences] = forms.get(word) ?? [0, 0]
      stems.set(stemOf(word), forms.set(word, [seen + 1, occurrences + words.filter((each) => each === word).length]))
    }
  return [...stems]
    .flatMap(([stem, forms]) => {
      const begun = [...forms].filter(([word]) => word.startsWith(prefix))
      const [best] = begun.sort(([one, a], [other, b]) => b[0] - a[0] || b[1] - a[1] || (one < other ? -1 : 1))
      return best === undefined
        ? []
        : [{ term: best[0], docCount: texts.filter((words) => words.some((word) => stemOf(word) === stem)).length }]
    })
    .sort((one, other) => other.docCount - one.docCount || (one.term < other.term ? -1 : 1))
}

/** Applies one edit at a random position. */
function misspell(word: string, kind: number, at: number): string {
  const position = at % word.length
  const [head, tail] = [word.slice(0, position), word.slice(position)]
  return (
    [`${head}q${tail}`, head + tail.slice(1), `${head}q${tail.slice(1)}`, head + (tail[1] ?? '') + (tail[0] ?? '') + tail.slice(2)][kind] ??
    word
  )
}

describe('completions and corrections', () => {
  let client: DocumentsClient
  before(async () => {
    client = await DocumentsClient.start({ env: { SVC_SPELL: 'true' } })
  })
  after(() => client.stop())

  const fill = async (texts: readonly (readonly string[])[]): Promise<string> => {
    const name = client.collection()
    await client.addBatch(name, texts.map((words, n) => ({ key: `k${n}`, lang: 'en', contentMd: words.join(' ') }))) // prettier-ignore
    return name
  }

  it("completions equal a scan of the documents' words", async () => {
    await holds(
      fc.asyncProperty(documents, fc.array(beginning, { minLength: 1, maxLength: 4 }), async (texts, prefixes) => {
        const name = await fill(texts)
        for (const q of prefixes) {
          const answer = await client.server.get(`/v1/autocomplete?${new URLSearchParams({ collection: name, q, topN: '100' }).toString()}`)
          const items = answer.json<{ items: Item[] }>().items.map(({ term, docCount }) => ({ term, docCount }))
          assert.deepEqual(items, scan(texts, q), q)
        }
      }),
      { numRuns: 120 },
    )
  })

  it('suggestions are known words within the edits, nearest words are found, and known words stay', async () => {
    const stopWords = new Set((DEFAULT_STOP_WORDS.en ?? '').split(' '))
    await holds(
      fc.asyncProperty(documents, fc.constantFrom(...VOCABULARY), fc.nat(3), fc.nat(20), async (texts, word, kind, at) => {
        const name = await fill(texts)
        const known = new Set(texts.flat())
        // Words with accents are also indexed without them.
        const stems = new Set([...known].flatMap((each) => [stemOf(each), stemOf(foldLetters(each))]))
        const text = misspell(word, kind, at)
        const body = { collection: name, text: `${text} ${texts[0]?.join(' ') ?? ''}`, lang: 'en', maxSuggestions: 20 }
        const { tokenSuggestions } = (await client.post('/v1/spell-suggest', body)).json<{
          tokenSuggestions: { token: string; suggestions: string[] }[]
        }>()
        for (const { token, suggestions } of tokenSuggestions) {
          assert.equal(token, text)
          assert.ok(!stems.has(stemOf(token)))
          for (const suggestion of suggestions) {
            assert.ok(stems.has(stemOf(suggestion)) || stopWords.has(suggestion), suggestion)
            assert.ok(editDistance(token, suggestion) <= (token.length < 5 ? 1 : 2), `${token} ${suggestion}`)
          }
        }
        const isUnknown = /^\p{L}{4,}$/u.test(text) && !stems.has(stemOf(text)) && !stopWords.has(text)
        if (isUnknown && known.has(word)) assert.ok(tokenSuggestions[0]?.suggestions.includes(word), `${text} for ${word}`)
      }),
      { numRuns: 200 },
    )
  })
})

describe('parts of the correction', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', 'ж'), maxLength: 7 })

  it('the edit distance is symmetric and counts the edits, and a word list finds the words within it', () => {
    fc.assert(
      fc.property(fc.uniqueArray(word, { maxLength: 20 }), word, fc.integer({ min: 0, max: 2 }), (words, text, edits) => {
        const list = new WordList(words.map((each) => ({ word: each, documents: 1 })))
        const expected = words.filter((each) => editDistance(text, each) <= edits)
        assert.deepEqual(
          list.near(text, edits).map((near) => near.word),
          expected,
        )
        for (const each of words) {
          assert.equal(editDistance(text, each), editDistance(each, text))
          assert.equal(editDistance(each, each), 0)
        }
      }),
    )
    const long = fc.constantFrom('configuration', 'databases')
    holds(fc.property(long, fc.nat(3), fc.nat(20), (text, kind, at) => assert.ok(editDistance(text, misspell(text, kind, at)) <= 1)))
  })

  it('words of any text are at their offsets, and corrections change nothing but them', () => {
    const part = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 6 }),
      fc.constantFrom(' ', 'word', '"a b"', "it's", 'x-ray', 'Über', 'snake_case', '(a)'),
    )
    holds(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const text = parts.join('')
        const words = wordsOfText(text)
        for (const { text: each, start } of words) assert.equal(text.slice(start, start + each.length), each)
        const kept = words.map(({ text: each, start }) => ({ word: each, start, suggestions: [each], confidence: 1 }))
        assert.equal(applyCorrections(text, kept), text)
        const marked = applyCorrections(text, kept.map((each) => ({ ...each, suggestions: ['\u0000'] }))) // prettier-ignore
        assert.equal(marked.split('\u0000').length, words.length + (text.includes('\u0000') ? text.split('\u0000').length : 1))
      }),
      { numRuns: 1000 },
    )
  })
})
