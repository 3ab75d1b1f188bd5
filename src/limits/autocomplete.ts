/**
 * Bounds of autocomplete, and of surface words: the words in documents that belong to a stem of the index.
 */
import { KIB } from './units.js'

/** Characters of the prefix to complete. Fixed by the contract. Further ones are cut off. */
export const AUTOCOMPLETE_CHARACTERS_MAX = 32
/** Default number of completions. Fixed by the contract. */
export const AUTOCOMPLETE_ITEMS_DEFAULT = 10
/**
 * Maximum number of completions. More do not help a user who types, and each may need a look-up in documents.
 */
export const AUTOCOMPLETE_ITEMS_MAX = 100
/**
 * Maximum number of characters cut from the prefix to find stems that are shorter than it. `configura` has
 * five more than its stem would need for `-ational`.
 */
export const AUTOCOMPLETE_STEPS_BACK_MAX = 6
/**
 * Terms whose words are looked up in documents for one autocompletion: 24 x 150 us. Further terms are shown
 * in their index form.
 */
export const AUTOCOMPLETE_LOOK_UPS_MAX = 24

// ---- Surface words

/** Documents that are searched for the words of one term. */
export const SURFACE_DOCUMENTS = 3
/** Bytes of the content of each document that are searched: 10 us. */
export const SURFACE_TEXT_BYTES_MAX = 32 * KIB
/** Positions in one document at which words with the beginning of the term are read: 64 x 0.3 us. */
export const SURFACE_OCCURRENCES_MAX = 64
/** Words kept of one term, the most frequent ones first. */
export const SURFACE_FORMS_MAX = 8
/** Terms whose words a lane caches: 32 768 x 300 B = 10 MB. */
export const SURFACE_TERMS_MAX = 32_768
/** Words of documents whose stems a lane caches: 32 768 x 150 B = 5 MB. */
export const SURFACE_STEMS_MAX = 32_768
/**
 * Lifetime of a cached word once the index has changed. A word that is no longer in its documents is shown
 * for at most this long.
 */
export const SURFACE_SECONDS_MAX = 60
