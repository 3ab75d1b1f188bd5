/** Bounds of autocomplete and spell correction. A part of src/limits.ts, through which it is imported. */
const KIB = 1024

/** Characters of what is to be completed; the contract's. The rest is cut off. */
export const AUTOCOMPLETE_CHARACTERS_MAX = 32
/** Completions where the request says no number; the contract's. */
export const AUTOCOMPLETE_ITEMS_DEFAULT = 10
/** Most completions: more are no help to anybody who types, and each may take a look into documents. */
export const AUTOCOMPLETE_ITEMS_MAX = 100
/** Stems that end before the word that is being typed are looked for so many characters back: `configura` has five more than its stem would need for `-ational`. */
export const AUTOCOMPLETE_STEPS_BACK_MAX = 6
/** Terms whose words are looked up in documents for one autocompletion: 24 x 150 us. Beyond, terms are shown as they are in the index. */
export const AUTOCOMPLETE_LOOK_UPS_MAX = 24
/** Documents looked at for the words of one term. */
export const SURFACE_DOCUMENTS = 3
/** Bytes of content that each is looked through for: 10 us. */
export const SURFACE_TEXT_BYTES_MAX = 32 * KIB
/** Places in one document where words are read that begin like the term: 64 x 0.3 us. */
export const SURFACE_OCCURRENCES_MAX = 64
/** Words kept of one term, the commonest. */
export const SURFACE_FORMS_MAX = 8
/** Terms whose words a lane remembers: 32 768 x 300 B = 10 MB. */
export const SURFACE_TERMS_MAX = 32_768
/** Words of documents whose stems a lane remembers: 32 768 x 150 B = 5 MB. */
export const SURFACE_STEMS_MAX = 32_768
/** For how long once the index has changed: a word that has gone from its documents is not shown for longer. */
export const SURFACE_SECONDS_MAX = 60

/** Edits between a word and its correction, a transposition being one: the engine's. */
export const SPELL_EDITS_MAX = 2
/** Words of so many characters are too near to too many others: one edit, the first character the same, and only to what is common. */
export const SPELL_SHORT_CHARACTERS_MAX = 3
/** From so many characters on a word may have two errors. */
export const SPELL_TWO_EDITS_CHARACTERS_MIN = 5
/** Longer runs of letters are no words. */
export const SPELL_WORD_CHARACTERS_MAX = 32
/** Characters that an ending adds to its stem: `-fulness`, `-ational`. A word whose ending is wrong is looked for by what is before. */
export const SPELL_ENDING_CHARACTERS_MAX = 7
/** Terms asked for of one walk through the dictionaries. */
export const SPELL_NEAR_TERMS_MAX = 32
/** Terms of one walk whose words are looked at, and how many of one word may be looked up in documents: 12 x 150 us. */
export const SPELL_CANDIDATES_MAX = 10
export const SPELL_LOOK_UPS_MAX = 12
/** Suggestions for one word where the request says no number, and at most. */
export const SPELL_SUGGESTIONS_DEFAULT = 5
export const SPELL_SUGGESTIONS_MAX = 20
/** Unknown words that one request has looked for, at up to 2 ms each: 0.5 s. Those beyond are left as they are. */
export const SPELL_WORDS_MAX = 256
/** UTF-8 bytes of a text to be corrected. */
export const SPELL_TEXT_BYTES_MAX = 64 * KIB
/** Corrections that a lane remembers while index and settings stand: 4 096 x 300 B. */
export const SPELL_CORRECTIONS_MAX = 4096
/** Words in the dictionary of one collection and language. One row holds them: 5 000 x 15 B; a lane compares each with an unknown word in 20 ns. */
export const SPELL_DICTIONARY_WORDS_MAX = 5000
/** Documents that a dictionary word counts for where the request says no number, and at most. */
export const SPELL_FREQUENCY_DEFAULT = 100
export const SPELL_FREQUENCY_MAX = 1_000_000_000
