/** Bounds of spell correction: candidates, suggestions, texts and dictionaries. */
import { KIB } from './units.js'

/** Edits between a word and its correction, as the engine counts them; a transposition is one. */
export const SPELL_EDITS_MAX = 2
/**
 * Words of at most this many characters are similar to too many others. They get one edit, keep the first
 * character, and are corrected only to frequent words.
 */
export const SPELL_SHORT_CHARACTERS_MAX = 3
/** Words of at least this many characters may have two errors. */
export const SPELL_TWO_EDITS_CHARACTERS_MIN = 5
/** Longer runs of letters are not words. */
export const SPELL_WORD_CHARACTERS_MAX = 32
/**
 * Characters that an ending adds to its stem: `-fulness`, `-ational`. A word with a wrong ending is looked up
 * by what precedes it.
 */
export const SPELL_ENDING_CHARACTERS_MAX = 7
/** Terms that one traversal of the dictionaries returns at most. */
export const SPELL_NEAR_TERMS_MAX = 32
/** Terms of one traversal whose words are compared, and look-ups in documents for one word: 12 x 150 us. */
export const SPELL_CANDIDATES_MAX = 10
export const SPELL_LOOK_UPS_MAX = 12
/** Default and maximum number of suggestions for one word. */
export const SPELL_SUGGESTIONS_DEFAULT = 5
export const SPELL_SUGGESTIONS_MAX = 20
/** Unknown words that one request corrects, at up to 2 ms each: 0.5 s. Further ones are left as they are. */
export const SPELL_WORDS_MAX = 256
/** UTF-8 bytes of a text to be corrected. */
export const SPELL_TEXT_BYTES_MAX = 64 * KIB
/** Corrections that a lane caches until index or settings change: 4 096 x 300 B. */
export const SPELL_CORRECTIONS_MAX = 4096
/**
 * Words in the dictionary of one collection and language. They are stored in one row: 5 000 x 15 B. A lane
 * compares each with an unknown word in 20 ns.
 */
export const SPELL_DICTIONARY_WORDS_MAX = 5000
/** Default and maximum number of documents that a dictionary word counts for. */
export const SPELL_FREQUENCY_DEFAULT = 100
export const SPELL_FREQUENCY_MAX = 1_000_000_000
