/**
 * A list of correct words, and a search for those near a misspelled one. All words are compared: first by
 * length and letters, the few that remain by edit distance. Built once per list; pure.
 */
import { editDistance } from '../../engine/text/edit_distance.js'

interface ListedWord {
  readonly word: string
  readonly documents: number
}

interface Entry extends ListedWord {
  /** A bit for each letter modulo 32. An edit changes at most two bits. */
  readonly letters: number
}

export class WordList {
  readonly #entries: readonly Entry[]
  readonly #words: ReadonlySet<string>

  constructor(words: readonly ListedWord[]) {
    this.#entries = words.map(({ word, documents }) => ({ word, documents, letters: lettersOf(word) }))
    this.#words = new Set(words.map(({ word }) => word))
  }

  has(word: string): boolean {
    return this.#words.has(word)
  }

  near(word: string, edits: number): ListedWord[] {
    const letters = lettersOf(word)
    return this.#entries.filter(
      (entry) =>
        Math.abs(entry.word.length - word.length) <= edits &&
        bitsOf(entry.letters ^ letters) <= 2 * edits &&
        editDistance(word, entry.word) <= edits,
    )
  }
}

function lettersOf(word: string): number {
  let letters = 0
  for (let at = 0; at < word.length; at++) letters |= 1 << (word.charCodeAt(at) & 31)
  return letters
}

function bitsOf(word: number): number {
  let bits = 0
  for (let rest = word; rest !== 0; rest &= rest - 1) bits++
  return bits
}
