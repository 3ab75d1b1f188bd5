/** Properties of the analyzer other than its tokens: languages, instances, large texts, memory, time. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ANALYZER_MEMORY_BYTES_KEPT_MAX, createAnalyzer } from '../../../src/engine/text/analyzer.js'
import { LANGUAGES, resolveLanguage } from '../../../src/engine/text/languages.js'
import { readPackedTokens } from '../../harness/store/packed_tokens.js'

const ENGLISH = { language: 'en', stem: true, markdown: true } as const

describe('languages', () => {
  it('a tag resolves to its base code in any spelling, an unknown one to the fallback', () => {
    const expected = { en_US: 'en', 'PT-br': 'pt', ' De ': 'de', 'zh-Hant-TW': 'zh', nb: 'no', nn_NO: 'no', 'de_DE.UTF-8': 'de' }
    for (const [tag, code] of Object.entries(expected)) assert.equal(resolveLanguage(tag, 'pl'), code, tag)
    for (const tag of ['', 'xx', 'english', 'constructor', '\u0000']) assert.equal(resolveLanguage(tag, 'pl_PL'), 'pl', tag)
    assert.equal(resolveLanguage('xx', 'yy'), 'en')
  })

  it('a document and a query in any language meet in their terms', () => {
    const analyzer = createAnalyzer()
    const words: Record<string, string> = { ru: 'новости', ar: 'كتب', ta: 'வீடுகள்', zh: '清华大学', ja: '東京', ko: '한국어' }
    for (const { code } of LANGUAGES) {
      const word = words[code] ?? 'kompjuter'
      const terms = readPackedTokens(analyzer.analyze(Buffer.from(`x **${word}** y`), { ...ENGLISH, language: code })).map(
        ({ term }) => term,
      )
      const query = analyzer.tokenize(word, { ...ENGLISH, language: code, markdown: false })
      assert.ok(query.length > 0, code)
      for (const { term } of query) assert.ok(terms.includes(term), `${code}: ${term}`)
    }
  })

  it('stem: false keeps words as they are written, in lower case', () => {
    const analyzer = createAnalyzer()
    const terms = analyzer.tokenize('Running the Houses', { ...ENGLISH, stem: false }).map(({ term }) => term)
    assert.deepEqual(terms, ['running', 'houses'])
  })
})

describe('instances', () => {
  it('the committed module was built from the committed sources', () => {
    const script = fileURLToPath(new URL('../../../../scripts/build-wasm.mjs', import.meta.url))
    const { status, stdout } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' })
    assert.equal(status, 0, stdout)
  })

  it('a failed call costs the instance, and the next text is analysed as ever', () => {
    const analyzer = createAnalyzer()
    const before = analyzer.analyze(Buffer.from('the same words'), ENGLISH)
    const broken = new Proxy(new Uint8Array(8), {
      get: (target, name) => (name === 'subarray' ? () => assert.fail('no bytes') : (Reflect.get(target, name, target) as unknown)),
    })
    assert.throws(() => analyzer.analyze(broken, ENGLISH), { message: 'text analysis failed' })
    assert.deepEqual(analyzer.analyze(Buffer.from('the same words'), ENGLISH), before)
  })

  it('a text of very many words gives one record with running positions, and no memory is kept for it', () => {
    const analyzer = createAnalyzer()
    const count = 600_000
    const tokens = readPackedTokens(
      analyzer.analyze(Buffer.from(Array.from({ length: count }, (_, i) => `w${i % 70_000}`).join(' ')), ENGLISH),
    )
    assert.equal(tokens.length, 70_000)
    assert.equal(
      tokens.reduce((sum, { positions }) => sum + positions.length, 0),
      count,
    )
    const first = tokens.find(({ term }) => term === 'w7')
    assert.deepEqual(
      first?.positions,
      Array.from({ length: Math.ceil((count - 7) / 70_000) }, (_, i) => 7 + i * 70_000),
    )
    assert.ok(analyzer.memoryBytes() <= ANALYZER_MEMORY_BYTES_KEPT_MAX)
  })

  it('memory stays within its bound however many distinct words pass', () => {
    const analyzer = createAnalyzer()
    for (let round = 0; round < 6; round++) {
      analyzer.analyze(
        Buffer.from(Array.from({ length: 60_000 }, (_, i) => `r${round}word${i}and${'x'.repeat(i % 60)}`).join('\n')),
        ENGLISH,
      )
      assert.ok(analyzer.memoryBytes() <= ANALYZER_MEMORY_BYTES_KEPT_MAX, `${analyzer.memoryBytes()} bytes in round ${round}`)
    }
  })
})

/** Patterns for which a careless scanner searches the rest of the text again at every mark. */
const PATTERNS = [
  '[',
  '<',
  '`',
  '`` ` ',
  '<!--',
  '<a x="',
  '<a \'" ',
  '<a ',
  '<a\n\n',
  '](',
  ']( ',
  '](a b',
  '](<',
  '&',
  '&eacute;',
  '\\',
  '[a]: ',
]
PATTERNS.push(
  '[a]: b c\n',
  '\n',
  '1. ',
  '```\n',
  '```a`\n',
  '(((',
  '<script>\n',
  '<?',
  '<!d',
  '<a:',
  '\u0301',
  '\u00ad',
  'é',
  '\u200b',
  '中',
  "a'",
)

describe('time', () => {
  it('four times the marks take about four times the time, for every mark', () => {
    const analyzer = createAnalyzer()
    // Processor time, not wall-clock time, so that other load on the machine does not count.
    const microseconds = (text: Buffer): number =>
      Math.min(
        ...Array.from({ length: 5 }, () => {
          const begin = process.cpuUsage()
          analyzer.analyze(text, ENGLISH)
          const { user, system } = process.cpuUsage(begin)
          return Math.max(1, user + system)
        }),
      )
    const repeated = (pattern: string, bytes: number): Buffer => Buffer.from(pattern.repeat(Math.ceil(bytes / Buffer.byteLength(pattern))))
    for (const pattern of PATTERNS) {
      const ratio = microseconds(repeated(pattern, 400_000)) / microseconds(repeated(pattern, 100_000))
      // Quadratic work has a ratio of 16; fresh memory and a busy machine have caused 8.
      assert.ok(ratio < 12, `${JSON.stringify(pattern)}: ${ratio.toFixed(1)}`)
    }
  })
})
