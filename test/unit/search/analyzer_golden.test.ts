/**
 * The analyzer compared with recorded tokens and stems: test/golden/analyzer. A difference changes every
 * index, so it is never adopted without a decision.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { createAnalyzer } from '../../../src/engine/text/analyzer.js'
import { readPackedTokens } from '../../harness/store/packed_tokens.js'

interface TokenCase {
  readonly name: string
  readonly language: string
  readonly markdown: boolean
  readonly text: string
  readonly tokens: string
}

const analyzer = createAnalyzer()

function readGolden<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../../../../test/golden/analyzer/${name}`, import.meta.url), 'utf8')) as T
}

function termOf(word: string, language: string): string {
  return analyzer
    .tokenize(word, { language, stem: true, markdown: false })
    .map((token) => token.term)
    .join(' ')
}

describe('tokens are the recorded ones', () => {
  for (const { name, language, markdown, text, tokens } of readGolden<{ cases: TokenCase[] }>('tokens.json').cases) {
    it(`${language}: ${name}`, () => {
      const found = analyzer.tokenize(text, { language, stem: true, markdown })
      assert.equal(found.map(({ term, position, start, end }) => `${term}@${position}[${start},${end})`).join(' '), tokens)
    })
  }
})

describe('stems are those of an independent Snowball implementation', () => {
  const { about: _, ...languages } = readGolden<Record<string, string[]>>('snowball.json')
  for (const [language, pairs] of Object.entries(languages)) {
    it(`${language}, ${pairs.length} words`, () => {
      const found = pairs.map((pair) => `${pair.split(' ')[0]} ${termOf(pair.split(' ')[0] ?? '', language)}`)
      assert.deepEqual(found, pairs)
    })
  }
})

describe('forms of a Polish word share the recorded stem', () => {
  for (const { stem, forms } of readGolden<{ words: { stem: string; forms: string }[] }>('polish.json').words) {
    it(forms.split(' ')[0] ?? '', () => {
      for (const form of forms.split(' ')) assert.equal(termOf(form, 'pl'), stem, form)
    })
  }
})

interface UnicodeForms {
  readonly forms: Readonly<Record<string, readonly string[]>>
  readonly runs: Readonly<Record<string, readonly [document: string, query: string]>>
}

describe('forms of words are those of an independent implementation of Unicode', () => {
  const { forms, runs } = readGolden<UnicodeForms>('unicode.json')
  for (const [language, lines] of Object.entries(forms)) {
    it(`${language}, ${lines.length} words`, () => {
      for (const line of lines) {
        const [word = '', term = '', folded = ''] = line.split(' ')
        const how = { language, stem: false, markdown: false }
        assert.deepEqual(
          analyzer.tokenize(word, { ...how, asks: true }).map((token) => token.term),
          [/[ёЁ]/.test(word) ? folded : term],
          word,
        )
        const indexed = readPackedTokens(analyzer.analyze(Buffer.from(word), how)).map((token) => token.term)
        assert.deepEqual(indexed.sort(), [...new Set([term, folded])].sort(), word)
      }
    })
  }
  for (const [run, [document, query]] of Object.entries(runs)) {
    it(run, () => {
      for (const language of ['ja', 'ko', 'en', 'de']) {
        const how = { language, stem: true, markdown: false }
        const said = (asks: boolean): string =>
          analyzer
            .tokenize(run, { ...how, asks })
            .map(({ term, position }) => `${term}@${position}`)
            .join(' ')
        assert.deepEqual([said(false), said(true)], [document, query])
      }
    })
  }
})
