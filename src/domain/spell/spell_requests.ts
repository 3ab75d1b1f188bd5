/**
 * Reads the requests of spell correction and writes their answers. Pure except for the corrector; read lanes.
 * Shapes: http.md, section 4.
 */
import { badRequest, serviceError } from '../../errors.js'
import { SPELL_DICTIONARY_WORDS_MAX } from '../../limits/search.js'
import { KIB } from '../../limits/units.js'
import { readStopWords } from '../words/vocabulary.js'
import { applyCorrections, type Misspelling } from './corrector.js'

/** Default and maximum number of suggestions for one word. */
const SPELL_SUGGESTIONS_DEFAULT = 5
const SPELL_SUGGESTIONS_MAX = 20
/** UTF-8 bytes of a text to be corrected. */
const SPELL_TEXT_BYTES_MAX = 64 * KIB
/** Default and maximum number of documents that a dictionary word counts for. */
const SPELL_FREQUENCY_DEFAULT = 100
const SPELL_FREQUENCY_MAX = 1_000_000_000

/** @throws ServiceError 400 */
export function checkText(text: string): void {
  const bytes = Buffer.byteLength(text)
  if (bytes > SPELL_TEXT_BYTES_MAX) throw badRequest(`invalid text: ${bytes} bytes, at most ${SPELL_TEXT_BYTES_MAX} are allowed`)
}

/** Lower case, without repetitions. @throws ServiceError 400 */
export function readSpellWords(words: readonly string[]): string[] {
  if (words.length === 0) throw serviceError('missingFields')
  if (words.length > SPELL_DICTIONARY_WORDS_MAX)
    throw badRequest(`invalid words: ${words.length}, at most ${SPELL_DICTIONARY_WORDS_MAX} are allowed`)
  return readStopWords(words)
}

/** 0 selects the default, as with limits. @throws ServiceError 400 */
export function readFrequency(frequency: number | undefined): number {
  if (frequency !== undefined && frequency > SPELL_FREQUENCY_MAX)
    throw badRequest(`invalid frequency: at most ${SPELL_FREQUENCY_MAX} is allowed`)
  return frequency || SPELL_FREQUENCY_DEFAULT
}

export function describeSuggestions(text: string, misspellings: readonly Misspelling[], wanted: number | undefined): unknown {
  const most = Math.min(wanted || SPELL_SUGGESTIONS_DEFAULT, SPELL_SUGGESTIONS_MAX)
  return {
    originalText: text,
    suggestedText: applyCorrections(text, misspellings),
    tokenSuggestions: misspellings.map(({ word, suggestions, confidence }) => ({
      token: word,
      suggestions: suggestions.slice(0, most),
      original: word,
      corrected: suggestions[0] ?? word,
      confidence,
    })),
  }
}

export function describeCleanup(text: string, misspellings: readonly Misspelling[]): unknown {
  return {
    original: text,
    cleaned: applyCorrections(text, misspellings),
    correctionsApplied: misspellings.filter(({ suggestions }) => suggestions.length > 0).length,
  }
}
