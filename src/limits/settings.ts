/** Bounds of the settings of a collection: configuration, synonyms, stop words, curation. */
import { KIB, MIB } from './units.js'

/**
 * Bytes of the configuration of one collection as JSON: sixteen of the largest response prompts. Lists of
 * 10 000 collections contain only the members that were set.
 */
export const COLLECTION_CONFIG_BYTES_MAX = 64 * KIB
/** UTF-8 bytes. Fixed by the contract. */
export const RESPONSE_PROMPT_BYTES_MAX = 4 * KIB
/** Maximum of `maxRevisions`: one revision a second for eleven days. */
export const REVISIONS_KEPT_MAX = 1_000_000
/** Maximum of the `topK` of a retrieval profile, and of `oversample`. Fixed by the contract. */
export const TOP_K_MAX = 1000
export const OVERSAMPLE_MAX = 10
/** Maximum of `contextTokenBudget`: as many tokens as the largest answer has. */
export const CONTEXT_TOKENS_MAX = 64 * MIB
/** Collections whose settings a lane caches. */
export const SETTINGS_CACHED_COLLECTIONS_MAX = 256
/** UTF-8 bytes of a term, a synonym or a stop word. A term is a part of an LMDB key. */
export const SETTING_TEXT_BYTES_MAX = 256

// ---- Synonyms and stop words

/**
 * Terms of one collection that have synonyms. General thesauri have about as many headwords. A lane analyses
 * them in 30 ms after a change.
 */
export const SYNONYM_TERMS_MAX = 10_000
/** Synonyms of one term. */
export const SYNONYMS_PER_TERM_MAX = 64
/**
 * Stop words of one collection in addition to the default ones; the longest of those lists has 800. They are
 * stored in one row: 2 000 x 10 B.
 */
export const STOP_WORDS_MAX = 2000
/** Words in one request that adds or deletes stop words. */
export const STOP_WORDS_REQUESTED_MAX = STOP_WORDS_MAX

// ---- Curation

/** Rules of one collection. Each query is compared with all of them, 1 000 x 0.1 us. */
export const CURATION_RULES_MAX = 1000
/** Pins and hides of one rule. */
export const CURATION_DOCUMENTS_MAX = 100
/** Pins and hides of all rules that match one query together. Each is looked up for every affected search. */
export const CURATION_APPLIED_MAX = 500
/** Documents of one key, in different languages, that a pin or a hide covers. */
export const CURATION_VARIANTS_MAX = 64
