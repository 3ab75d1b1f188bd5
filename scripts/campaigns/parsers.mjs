/**
 * `npm run campaign -- parsers [seconds]`: fuzzes the query parsers, for the given number of seconds each for
 * boolean, expression and auto. Inputs are built from the languages' own tokens, from parts of earlier
 * inputs, and from random characters.
 *
 * For each input: the result is a tree or a 400, never anything else; a printed tree parses to the same tree;
 * the plan is within the engine's bounds; the time limit is kept. Needs a build with tests. Prints the seed;
 * `MDS_SEED=n` repeats a run.
 */
import assert from 'node:assert/strict'
import { NO_SETTINGS } from '../../dist/src/domain/settings/collection_settings.js'
import { AUTO, BOOLEAN, EXPRESSION } from '../../dist/src/domain/query/query_dialect.js'
import { parseQuery } from '../../dist/src/domain/query/query_mode.js'
import { parseTree } from '../../dist/src/domain/query/query_parser.js'
import { planQuery } from '../../dist/src/domain/fulltext/query_plan.js'
import { printQuery } from '../../dist/test/harness/query_printer.js'
import { queryWords } from '../../dist/src/domain/words/query_words.js'
import { resolveScoring } from '../../dist/src/domain/fulltext/scoring.js'
import { createAnalyzer } from '../../dist/src/engine/text/analyzer.js'
import { encodePlan, NO_POLL_WORD } from '../../dist/src/engine/search/search_plan.js'
import { ServiceError } from '../../dist/src/errors.js'
import { randomFrom, seedOfRun } from '../lib/random.mjs'

const seconds = Number(process.argv[2] ?? 600)
/**
 * Processor time. An input has 4 KiB at most. Parsing and planning it takes some milliseconds, and a garbage
 * collection may fall into that time.
 */
const TEXT_MS_MAX = 1000
const TEXT_CHARACTERS_MAX = 1000

const PIECES = [
  ...[
    'AND',
    'OR',
    'NOT',
    'and',
    'or',
    'not',
    '(',
    ')',
    '"',
    '+',
    '-',
    '*',
    '?',
    '~',
    '~1',
    '~9',
    ':',
    'title:',
    'meta.tags:',
    'content:',
    '\\',
    '\\"',
    '\\\\',
  ],
  ...[
    ' ',
    ' ',
    ' ',
    '\t',
    '\n',
    '\u3000',
    '\0',
    'rust',
    'the',
    'C++',
    'foo-bar',
    'getUserName',
    'é',
    'ﬁ',
    '字',
    '日本',
    '😀',
    '\ud800',
    '\u0301',
    'http://x',
    '12:30',
    'a',
    '1',
  ],
]

const seed = seedOfRun()
const below = randomFrom(seed)

const kept = ['']
function nextText() {
  let text = kept[below(kept.length)]
  for (let changes = 1 + below(8); changes > 0; changes--) {
    const at = below(text.length + 1)
    const kind = below(10)
    const piece = kind === 0 ? String.fromCodePoint(below(0x11_0000)) : PIECES[below(PIECES.length)]
    if (kind < 7) text = text.slice(0, at) + piece + text.slice(at)
    else if (kind < 9) text = text.slice(0, at) + text.slice(at + 1 + below(5))
    else text = text.slice(0, at) + kept[below(kept.length)] + text.slice(at)
  }
  text = text.slice(0, TEXT_CHARACTERS_MAX)
  if (kept.length < 2000) kept.push(text)
  else kept[below(kept.length)] = text
  return text
}

/** Returns the result of `run`, or undefined if it throws a 400. */
function refusable(run) {
  try {
    return run()
  } catch (error) {
    if (error instanceof ServiceError && error.isInvalidInput) return undefined
    throw error
  }
}

const analyzer = createAnalyzer()
const words = queryWords(analyzer, NO_SETTINGS, { language: 'en', stem: true, synonyms: false })

function check(name, dialect, text) {
  const tree = refusable(() => parseTree(text, dialect))
  if (tree !== undefined)
    assert.deepEqual(
      refusable(() => parseTree(printQuery(tree), dialect)),
      tree,
      'a printed tree parses to the same tree',
    )
  const query = refusable(() => parseQuery(text, name))
  assert.ok(query !== undefined || name !== 'auto', 'auto refuses nothing')
  if (query === undefined) return false
  const scoring = resolveScoring(['tfidf', 'bm25', 'bm25f', 'pmisparse'][below(4)], undefined)
  const plan = refusable(() => planQuery(query, words, scoring))
  if (plan === undefined) return true
  const { terms, fields, root } = plan
  const algorithm = scoring.algorithm === 'pmisparse' ? 'bm25' : scoring.algorithm
  const rest = { collection: 1, k1: 1, b: 0, k: 10, skip: 0, sort: 'score', descending: true, exactTotal: false, filters: [] }
  encodePlan({ ...rest, algorithm, terms, fields, root }, NO_POLL_WORD)
  return true
}

console.log(`parsers: seed ${seed}`)
let failed = 0
for (const [name, dialect] of [
  ['boolean', BOOLEAN],
  ['expression', EXPRESSION],
  ['auto', AUTO],
]) {
  const end = performance.now() + seconds * 1000
  let texts = 0
  let accepted = 0
  let slowestMs = 0
  while (performance.now() < end) {
    const text = nextText()
    const begin = process.cpuUsage()
    try {
      if (check(name, dialect, text)) accepted++
      const { user, system } = process.cpuUsage(begin)
      const tookMs = (user + system) / 1000
      slowestMs = Math.max(slowestMs, tookMs)
      assert.ok(tookMs < TEXT_MS_MAX, `took ${tookMs.toFixed(0)} ms`)
    } catch (error) {
      failed++
      console.log(`${name}: ${JSON.stringify(text)}: ${error instanceof Error ? error.message : String(error)}`)
      break
    }
    texts++
  }
  console.log(`${name}: ${texts} texts, ${accepted} accepted, the slowest took ${slowestMs.toFixed(1)} ms`)
}
process.exitCode = failed === 0 ? 0 : 1
