/**
 * Question: how many misspelled words does spell correction correct, how well do misspelled queries rank with
 * it, without it and with fuzzy search instead, and how long does a word take?
 * Words: those of the judged queries of Cranfield and of the known items of md50k (in queries/md.json:
 * titles) that have four letters or more and occur in the collection. Each gets one or two typing errors: a
 * letter omitted, a letter inserted, a letter replaced by its neighbour on the keyboard, or two letters
 * exchanged (seeded).
 *   top-1, top-5: the original word is the first, or among the first five suggestions
 *   stem-1: the first suggestion has the original's stem, so that a search finds the same
 *   unnoticed: the misspelling is itself a word of the collection
 * Queries: every such word misspelled once; nDCG@10 with bm25, mode simple.
 * Run: npm run bench -- spell-quality [-- DOCUMENTS]. Last result: bench/README.md.
 */
import { createAnalyzer } from '../../src/engine/text/analyzer.js'
import { startServer } from '../../test/harness/server/server.js'
import { readLines, readTable, sharedPath } from '../data/corpora.js'
import { fill, search } from '../data/fulltext_client.js'
import { readQueries } from '../data/query_classes.js'
import { mean, ndcgAt, readJudgements } from '../data/ranking_measures.js'
import { Connection, postBytes } from '../measure/connection.js'
import { randomSource } from '../measure/random_source.js'
import { percentile, Report } from '../measure/report.js'

const SEED = 20_261
const LETTERS_MIN = 4
const WORDS_MAX = 1000
const DEPTH = 10
const ROWS = ['qwertyuiop', 'asdfghjkl', 'zxcvbnm'] as const
const documentsMax = Number(process.argv[2] ?? Number.POSITIVE_INFINITY)
const random = randomSource(SEED)
const report = new Report()

const analyzer = createAnalyzer()
const stemOf = (word: string): string | undefined => analyzer.tokenize(word, { language: 'en', stem: true, markdown: false })[0]?.term
const below = (bound: number): number => Math.floor(random() * bound)

function neighbour(letter: string): string {
  const row = ROWS.find((keys) => keys.includes(letter)) ?? ROWS[0]
  const at = row.indexOf(letter)
  return row[at + (random() < 0.5 ? -1 : 1)] ?? row[at === 0 ? 1 : at - 1] ?? 'e'
}

function misspell(word: string): string {
  const at = below(word.length)
  const [letter = '', head, tail] = [word[at], word.slice(0, at), word.slice(at + 1)]
  switch (below(4)) {
    case 0:
      return head + tail
    case 1:
      return head + letter + neighbour(letter) + tail
    case 2:
      return head + neighbour(letter) + tail
    default:
      return head + (tail[0] ?? '') + letter + tail.slice(1)
  }
}

/** Applies the given number of errors; never returns the word itself. */
function misspelled(word: string, errors: number): string {
  for (;;) {
    let text = word
    for (let done = 0; done < errors; done++) text = misspell(text)
    if (text !== word) return text
  }
}

interface Suggested {
  readonly tokenSuggestions: readonly { readonly token: string; readonly suggestions: readonly string[] }[]
}

async function suggest(connection: Connection, collection: string, text: string): Promise<Suggested> {
  const answer = await connection.send(postBytes('/v1/spell-suggest', JSON.stringify({ collection, text, lang: 'en' })))
  if (answer.status !== 200) throw new Error(`spell-suggest answers ${answer.status}: ${answer.body.toString('utf8', 0, 300)}`)
  return JSON.parse(answer.body.toString()) as Suggested
}

async function judgeWords(connection: Connection, collection: string, queries: readonly string[]): Promise<void> {
  const words = new Set(queries.flatMap((query) => query.toLowerCase().match(/(?<!\p{L})\p{L}+(?!\p{L})/gu) ?? []))
  const known: string[] = []
  for (const word of words) {
    if (word.length < LETTERS_MIN || !/^[a-z]+$/.test(word)) continue
    if ((await suggest(connection, collection, word)).tokenSuggestions.length === 0) known.push(word)
    if (known.length === WORDS_MAX) break
  }
  for (const errors of [1, 2]) {
    const counts = { top1: 0, top5: 0, stem1: 0, unnoticed: 0 }
    const times: number[] = []
    for (const word of known) {
      const text = misspelled(word, errors)
      const begun = performance.now()
      const [token] = (await suggest(connection, collection, text)).tokenSuggestions
      if (token === undefined) {
        counts.unnoticed++
        continue
      }
      times.push(performance.now() - begun)
      if (token.suggestions[0] === word) counts.top1++
      if (token.suggestions.includes(word)) counts.top5++
      if (stemOf(token.suggestions[0] ?? '') === stemOf(word)) counts.stem1++
    }
    const share = (count: number, of: number): number => count / of
    const noticed = known.length - counts.unnoticed
    report.add({
      what: 'words',
      corpus: collection,
      errors,
      words: known.length,
      unnoticed: share(counts.unnoticed, known.length),
      top1: share(counts.top1, noticed),
      top5: share(counts.top5, noticed),
      stem1: share(counts.stem1, noticed),
      p50Ms: percentile(times, 0.5),
      p99Ms: percentile(times, 0.99),
    })
  }
}

async function judgeQueries(
  connection: Connection,
  corpus: string,
  queries: readonly (readonly [query: string, text: string])[],
): Promise<void> {
  const judgements = readJudgements(sharedPath(`corpora/ir/${corpus}/qrels.tsv`))
  const judged = queries.filter(([query]) => judgements.has(query))
  const corrupted = judged.map(([query, text]) => {
    const words = text.replace(/[a-z]{4,}/gi, (word) => misspelled(word.toLowerCase(), 1))
    return [query, words] as const
  })
  const runs = [
    { what: 'as written', texts: judged, options: {} },
    { what: 'misspelled', texts: corrupted, options: {} },
    { what: 'misspelled, spellCorrect', texts: corrupted, options: { spellCorrect: true } },
    { what: 'misspelled, fuzzy 1', texts: corrupted, options: { fuzzy: 1 } },
    { what: 'misspelled, fuzzy 2', texts: corrupted, options: { fuzzy: 2 } },
  ]
  for (const { what, texts, options } of runs) {
    const scores: number[] = []
    const times: number[] = []
    for (const [query, text] of texts) {
      const plain = text.replace(/[^\p{L}\p{N}\s]+/gu, ' ').trim()
      const begun = performance.now()
      const { keys } = await search(connection, {
        collection: corpus,
        query: plain,
        mode: 'simple',
        algorithm: 'bm25',
        limit: DEPTH,
        ...options,
      })
      times.push(performance.now() - begun)
      scores.push(ndcgAt(DEPTH, keys, judgements.get(query) ?? new Map<string, number>()))
    }
    report.add({ what, corpus, queries: texts.length, ndcg10: mean(scores), p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99) })
  }
}

const server = await startServer({ env: { SVC_SPELL: 'true' } })
try {
  const connection = await Connection.open(server.port)
  for (const corpus of ['cranfield', 'cisi']) {
    await fill(connection, corpus, await readLines(sharedPath(`corpora/ir/${corpus}/docs.ndjson`)))
    const queries = readTable(sharedPath(`corpora/ir/${corpus}/queries.tsv`)).map(([query = '', text = '']) => [query, text] as const)
    await judgeWords(connection, corpus, queries.map(([, text]) => text)) // prettier-ignore
    await judgeQueries(connection, corpus, queries)
  }
  await fill(connection, 'md50k', await readLines(sharedPath('corpora/md/md50k.ndjson.gz'), documentsMax))
  await judgeWords(connection, 'md50k', readQueries().title)
  connection.close()
} finally {
  await server.stop()
}
report.table(['what', 'corpus', 'errors', 'words', 'unnoticed', 'top1', 'top5', 'stem1', 'queries', 'ndcg10', 'p50Ms', 'p99Ms'])
