/**
 * Checks the synonyms and stop words of requests, and brings them into the form in which they are stored.
 * Also lists the default stop words. Pure; any lane. Rules: service-1, "Full-text search", and
 * docs/decisions/search/search-answers.md.
 */
import { resolveLanguage } from '../../engine/text/languages.js'
import { badRequest, serviceError } from '../../errors.js'
import { DEFAULT_STOP_WORDS } from './default_stop_words.js'

/** UTF-8 bytes of a term, a synonym or a stop word. A term is a part of an LMDB key. */
const SETTING_TEXT_BYTES_MAX = 256
/** Synonyms of one term. */
const SYNONYMS_PER_TERM_MAX = 64

/** Lower case, with single spaces, so that two spellings of a term are equal. @throws ServiceError 400 */
export function readTerm(term: string): string {
  return readText('term', term).toLowerCase()
}

/** As written, without repetitions. @throws ServiceError 400 */
export function readSynonyms(synonyms: readonly string[]): string[] {
  if (synonyms.length === 0) throw serviceError('missingFields')
  if (synonyms.length > SYNONYMS_PER_TERM_MAX)
    throw badRequest(`invalid synonyms: ${synonyms.length}, at most ${SYNONYMS_PER_TERM_MAX} are allowed`)
  return [...new Set(synonyms.map((synonym) => readText('synonyms', synonym)))]
}

/** Lower case, without repetitions. @throws ServiceError 400 */
export function readStopWords(words: readonly string[]): string[] {
  const read = words.map((word) => readText('words', word).toLowerCase())
  const several = read.find((word) => word.includes(' '))
  if (several !== undefined) throw badRequest(`invalid words: "${several}" is more than one word`)
  return [...new Set(read)]
}

function readText(field: string, text: string): string {
  const trimmed = text.trim().replace(/\s+/g, ' ').normalize('NFC')
  const bytes = Buffer.byteLength(trimmed)
  if (bytes === 0) throw badRequest(`invalid ${field}: a text is empty`)
  if (bytes > SETTING_TEXT_BYTES_MAX) throw badRequest(`invalid ${field}: ${bytes} bytes, at most ${SETTING_TEXT_BYTES_MAX} are allowed`)
  if (!trimmed.isWellFormed()) throw badRequest(`invalid ${field}: invalid UTF-8`)
  return trimmed
}

/** Empty for a language without a list. */
export function defaultStopWords(lang: string): ReadonlySet<string> {
  const words = DEFAULT_STOP_WORDS[resolveLanguage(lang, lang)]
  return new Set(words === undefined ? [] : words.split(' '))
}
