/** Bounds of autocomplete, and of the words that documents have for a stem of the index (surface words). */
import { KIB } from './units.js'

/** Characters of the prefix to complete: the contract's number. Further ones are cut off. */
export const AUTOCOMPLETE_CHARACTERS_MAX = 32
/** Completions where the request says no number: the contract's number. */
export const AUTOCOMPLETE_ITEMS_DEFAULT = 10
/** Completions at most. More do not help a user who types, and each may need a look into documents. */
export const AUTOCOMPLETE_ITEMS_MAX = 100
/**
 * Characters that are cut from the prefix to find stems shorter than it: `configura` has five more than its
 * stem would need for `-ational`.
 */
export const AUTOCOMPLETE_STEPS_BACK_MAX = 6
/**
 * Terms whose words are looked up in documents for one autocompletion: 24 x 150 us. Further terms are shown
 * as they are in the index.
 */
export const AUTOCOMPLETE_LOOK_UPS_MAX = 24

// ---- Surface words

/** Documents that are searched for the words of one term. */
export const SURFACE_DOCUMENTS = 3
/** Bytes of the content of each that are searched: 10 us. */
export const SURFACE_TEXT_BYTES_MAX = 32 * KIB
/** Positions in one document at which words are read that begin like the term: 64 x 0.3 us. */
export const SURFACE_OCCURRENCES_MAX = 64
/** Words kept of one term, the most frequent ones. */
export const SURFACE_FORMS_MAX = 8
/** Terms whose words a lane caches: 32 768 x 300 B = 10 MB. */
export const SURFACE_TERMS_MAX = 32_768
/** Words of documents whose stems a lane caches: 32 768 x 150 B = 5 MB. */
export const SURFACE_STEMS_MAX = 32_768
/**
 * Lifetime of a cached word once the index has changed. A word that has gone from its documents is not shown
 * for longer.
 */
export const SURFACE_SECONDS_MAX = 60
