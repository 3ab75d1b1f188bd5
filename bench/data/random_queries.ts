/**
 * Random full-text requests of every mode over the words of a corpus. They contain words by their frequency,
 * misspelt words, patterns with wildcards at any position, phrases that occur in a document, proximity,
 * nested operators, filters that match something, and queries of only common words. Most are typical
 * requests; some are as heavy as the language allows. Seeded.
 */
import type { Random } from '../../test/harness/random.js'
import type { CorpusDocument } from './corpora.js'

export interface RandomRequest {
  readonly kind: string
  readonly body: {
    readonly collection: string
    readonly query: string
    readonly mode: string
    readonly algorithm: string
    readonly limit: number
    readonly count: boolean
    readonly fuzzy: number
    readonly distance: number
    readonly filterMeta?: Readonly<Record<string, readonly string[]>>
  }
}

const COMMON = [
  'the',
  'a',
  'of',
  'is',
  'function',
  'value',
  'method',
  'windows',
  'object',
  'data',
  'type',
  'parameter',
  'returns',
  'file',
  'string',
]
const FIELDS = ['content', 'title', 'body', 'meta.title', 'meta.description', 'key']
const WORD = /[\p{L}\p{N}]+/gu
const ALPHABET = 'etaoinsrhldcumfpgwybvkxjqz0123456789'
/** Number of words of a document to choose from: enough to cover any part of its text. */
const DOCUMENT_WORDS = 400
const DEPTH_MAX = 5
const FILTER_PARTS = 4

export class RandomQueries {
  readonly #random: Random
  readonly #documents: readonly CorpusDocument[]
  readonly #kinds: readonly (readonly [name: string, mode: string, text: () => string])[]

  constructor(random: Random, documents: readonly CorpusDocument[]) {
    this.#random = random
    this.#documents = documents
    this.#kinds = [
      ['words', 'simple', () => this.#words(1 + random.below(6)).join(' ')],
      ['long text', 'simple', () => this.#words(20 + random.below(80)).join(' ')],
      ['common words', 'simple', () => this.#some(2 + random.below(8), () => random.pick(COMMON)).join(' ')],
      ['typed', 'auto', () => this.#words(1 + random.below(8)).join(random.below(4) === 0 ? ' "' : ' ')],
      ['misspelt', 'simple', () => this.#some(1 + random.below(5), () => this.#misspelt()).join(' ')],
      ['patterns', 'wildcard', () => this.#some(1 + random.below(4), () => this.#pattern()).join(' ')],
      [
        'leading wildcards',
        'wildcard',
        () => this.#some(1 + random.below(16), () => `*${this.#piece()}${random.pick(['', '*', '?'])}`).join(' '),
      ],
      ['phrase', 'phrase', () => `"${this.#run(2 + random.below(4))}"`],
      ['near', 'proximity', () => this.#words(2 + random.below(3)).join(' ')],
      ['near common', 'proximity', () => `${random.pick(COMMON)} ${random.pick(COMMON)} ${this.#word()}`],
      ['boolean', 'boolean', () => this.#clause(DEPTH_MAX, false)],
      ['expression', 'expression', () => this.#clause(DEPTH_MAX, true)],
    ]
  }

  next(): RandomRequest {
    const random = this.#random
    const [kind, mode, text] = random.pick(this.#kinds)
    const fuzzy = kind === 'misspelt' ? random.below(3) : random.below(10) === 0 ? 1 : 0
    const base = {
      collection: 'campaign',
      query: text(),
      mode,
      algorithm: random.pick(['bm25', 'bm25f', 'tfidf']),
      limit: random.pick([1, 10, 10, 10, 50, 300]),
      count: random.below(4) === 0,
      fuzzy,
      distance: random.pick([0, 2, 5, 50, 1000]),
    }
    return { kind, body: random.below(6) === 0 ? { ...base, filterMeta: this.#filters() } : base }
  }

  #some<T>(count: number, make: () => T): T[] {
    return Array.from({ length: count }, make)
  }

  #documentWords(): string[] {
    const text = this.#random.pick(this.#documents).contentMd
    const begin = this.#random.below(Math.max(1, text.length - DOCUMENT_WORDS * 8))
    const words = text.slice(begin, begin + DOCUMENT_WORDS * 8).match(WORD) ?? []
    return words.length < 2 ? ['index', 'value'] : words.slice(1)
  }

  #word(): string {
    return this.#random.pick(this.#documentWords())
  }

  #words(count: number): string[] {
    const words = this.#documentWords()
    return this.#some(count, () => (this.#random.below(3) === 0 ? this.#word() : this.#random.pick(words)))
  }

  #run(count: number): string {
    const words = this.#documentWords()
    const begin = this.#random.below(Math.max(1, words.length - count))
    return words.slice(begin, begin + count).join(' ')
  }

  #piece(): string {
    const word = this.#word()
    const begin = this.#random.below(word.length)
    return word.slice(begin, begin + 1 + this.#random.below(4))
  }

  #misspelt(): string {
    let word = this.#word()
    for (let edits = this.#random.below(3); edits > 0; edits--) {
      const at = this.#random.below(word.length)
      const letter = this.#random.pick([...ALPHABET])
      word = this.#random.pick([
        word.slice(0, at) + letter + word.slice(at),
        word.slice(0, at) + word.slice(at + 1),
        word.slice(0, at) + letter + word.slice(at + 1),
      ])
    }
    return word === '' ? 'x' : word
  }

  #pattern(): string {
    let word = this.#word()
    for (let marks = 1 + this.#random.below(3); marks > 0; marks--) {
      const at = this.#random.below(word.length + 1)
      word = word.slice(0, at) + this.#random.pick(['*', '?']) + word.slice(at + this.#random.below(3))
    }
    return word
  }

  /** @param withFields true for expressions; boolean queries have no fields */
  #clause(depth: number, withFields: boolean): string {
    const random = this.#random
    if (depth === 0 || random.below(3) === 0) return this.#leaf(withFields)
    const children = this.#some(2 + random.below(4), () => this.#clause(depth - 1 - random.below(depth), withFields))
    const joined = children.join(random.pick([' AND ', ' OR ', ' OR ', ' AND NOT ', ' ']))
    return random.below(8) === 0 ? `(NOT (${joined}))` : `(${joined})`
  }

  #leaf(withFields: boolean): string {
    const leaf = this.#random.pick([
      () => this.#word(),
      () => this.#word(),
      () => this.#random.pick(COMMON),
      () => `"${this.#run(2 + this.#random.below(2))}"`,
      () => this.#pattern(),
      () => (withFields ? `"${this.#words(2).join(' ')}"~${this.#random.below(20)}` : this.#word()),
      () => (withFields ? `${this.#random.pick(FIELDS)}:${this.#word()}` : this.#word()),
    ])
    return leaf()
  }

  #filters(): Record<string, string[]> {
    const filters: Record<string, string[]> = {}
    for (let left = 1 + this.#random.below(2); left > 0; left--) {
      const { meta } = this.#random.pick(this.#documents)
      const keys = Object.keys(meta)
      if (keys.length === 0) continue
      const key = this.#random.pick(keys)
      filters[key] = (meta[key] ?? []).slice(0, FILTER_PARTS)
    }
    return filters
  }
}
