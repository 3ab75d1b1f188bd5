/**
 * Bounds of what collections are told and of what happens to documents over time: settings, schemas, tracking, diffs, export of histories. A part of src/limits.ts, by which everybody takes them; the rules there hold.
 * Read by all threads; pure data.
 */
const KIB = 1024
const MIB = 1024 * KIB

// ---- Settings of collections ----------------------------------------------------------------------------------------------------------------------------------

/** Bytes of one collection's configuration as JSON: sixteen of the largest response prompts, and lists of 10 000 collections show only what was said. */
export const COLLECTION_CONFIG_BYTES_MAX = 64 * KIB
/** UTF-8 bytes; the contract's. */
export const RESPONSE_PROMPT_BYTES_MAX = 4 * KIB
/** `maxRevisions`: a revision a second for eleven days. */
export const REVISIONS_KEPT_MAX = 1_000_000
/** `topK` of a retrieval profile, `oversample`: the contract's. */
export const TOP_K_MAX = 1000
export const OVERSAMPLE_MAX = 10
/** `contextTokenBudget`: as many tokens as the largest answer has. */
export const CONTEXT_TOKENS_MAX = 64 * MIB
/** Terms of one collection that have synonyms: the general thesauri have about as many headwords; a lane analyses them in 30 ms after a change. */
export const SYNONYM_TERMS_MAX = 10_000
/** Synonyms of one term. */
export const SYNONYMS_PER_TERM_MAX = 64
/** UTF-8 bytes of a term, a synonym or a stop word. A term is a part of an LMDB key. */
export const SETTING_TEXT_BYTES_MAX = 256
/** Stop words of one collection beside the default ones; the longest of those lists has 800. One row holds them: 2 000 x 10 B. */
export const STOP_WORDS_MAX = 2000
/** Words in one request that adds or deletes stop words. */
export const STOP_WORDS_REQUESTED_MAX = STOP_WORDS_MAX
/** Rules of one collection: each query is compared with all, 1 000 x 0.1 us. */
export const CURATION_RULES_MAX = 1000
/** Pins and hides of one rule. */
export const CURATION_DOCUMENTS_MAX = 100
/** Pins and hides of all rules that match one query together: each is looked up for every search that it holds for. */
export const CURATION_APPLIED_MAX = 500
/** Documents of one key in different languages that a pin or a hide means. */
export const CURATION_VARIANTS_MAX = 64
/** Collections whose settings a lane keeps at hand. */
export const SETTINGS_CACHED_COLLECTIONS_MAX = 256
/** Tokens that synonyms may add to one query: together with its own they stay below PLAN_LEAVES_MAX for all but the longest. Those beyond are left out. */
export const FTS_SYNONYM_TOKENS_MAX = 256

// ---- Schemas of collections -----------------------------------------------------------------------------------------------------------------------------------

/** Bytes of one schema as JSON text: 256 fields of 256 bytes. */
export const SCHEMA_BYTES_MAX = 64 * KIB
/** Values of one `enum`. */
export const SCHEMA_ENUM_VALUES_MAX = 1024
/** UTF-8 bytes of one `pattern`. */
export const SCHEMA_PATTERN_BYTES_MAX = KIB
/** Instructions of a compiled `pattern`: `[a-z]{1,500}` has 500. Each may cost a step at each character, and 1 000 take 20 ms for the longest value. */
export const SCHEMA_PATTERN_INSTRUCTIONS_MAX = 1000
/** Instructions x characters that the patterns of one document may cost: 0.5 s at worst, and 25 MB of values for a pattern of ten instructions. */
export const SCHEMA_PATTERN_STEPS_MAX = 256 * MIB
/** Compiled patterns that a thread keeps: some 10 KB each, and the package gives each at most 8 MB for the states that a hostile one runs through. */
export const SCHEMA_PATTERNS_COMPILED_MAX = 64
/** Errors, and warnings, of one document. */
export const SCHEMA_ERRORS_MAX = 50
/** Characters of a value or a key that an error text shows. */
export const SCHEMA_TEXT_SHOWN_MAX = 80

// ---- Tracking -------------------------------------------------------------------------------------------------------------------------------------------------

/** Reads that one thread may have made since the write lane took them last. A power of two; 512 KB a thread, of which untouched pages cost nothing. */
export const ACCESS_RING_ENTRIES = 32_768
/** How often the write lane takes them. */
export const ACCESS_TAKEN_MS = 500
/** Documents whose reads one slice stores, at 10 us each: single writes may enter between slices. */
export const ACCESS_SLICE_DOCUMENTS_MAX = 128
/** The write lane is left alone for so many times the time of a slice, and for so long at most: tracking takes a tenth of it. */
export const ACCESS_PAUSE_FACTOR = 9
export const ACCESS_PAUSE_MS_MAX = 1000
/** Seconds of documents in which they were read and that wait to be stored, some 150 B each. */
export const ACCESS_WAITING_MAX = 262_144
/** Writes in the history of one document, 5 B each; with the next and the prefix it stays within an LMDB page's largest entry (2 KB). */
export const HISTORY_WRITES_MAX = 100
/** Groups of reads in the history of one document, 8 B each. */
export const HISTORY_ACCESS_GROUPS_MAX = 150
/** Counts by minute are kept so long: a year and what one compares with it. 400 x 1 440 x 3 types x 25 B are 43 MB of a collection that is never idle. */
export const EVENT_MINUTES_DAYS_KEPT = 400
/** How often old ones are looked for, and in how many collections at once: three look-ups each. */
export const EVENT_MINUTES_SWEEP_MS = 3_600_000
export const EVENT_MINUTES_SWEEP_COLLECTIONS_MAX = 256
/** Events where the request says no number, and for how long before now where it says no time. */
export const EVENTS_LIMIT_DEFAULT = 100
export const EVENTS_SECONDS_DEFAULT = 30 * 86_400
/** Entries of a leaderboard where the request says no number, and at most. */
export const HOT_DOCUMENTS_DEFAULT = 10
export const HOT_DOCUMENTS_MAX = 1000
/** Documents that one leaderboard looks at for those that were read lately enough: 0.3 s. */
export const HOT_DOCUMENTS_SEEN_MAX = 100_000
/** Buckets of one histogram. More days than are kept can't be there. */
export const EVENT_BUCKETS_MAX = 1000

// ---- Diffs ----------------------------------------------------------------------------------------------------------------------------------------------------

/** Lines that differ within a part for which the shortest diff is looked for: time and memory go with the square, 1 000 x 1 000 / 2 x 4 B. */
export const DIFF_EDITS_MAX = 1000
/** Steps of one diff, a comparison of two lines each: 0.2 s. */
export const DIFF_STEPS_MAX = 50_000_000
/** Characters of both texts that are compared line by line, once what they have in front and behind is left out. More counts as replaced. */
export const DIFF_TEXT_COMPARED_MAX = 8 * MIB

// ---- Export of histories --------------------------------------------------------------------------------------------------------------------------------------

/** Documents whose histories are asked for at once: each answer may have 256 MB, most have some KB. */
export const GIT_EXPORT_DOCUMENTS_AT_ONCE = 8
/** Bytes of the stream that are written at once. */
export const GIT_EXPORT_WRITTEN_BYTES = 256 * KIB
/** States of one export: some 100 B each are held until they are put in order, and as much of each document. */
export const GIT_EXPORT_STATES_MAX = 10_000_000
/** Bytes of one part of a path: file systems take 255, and checkouts write a few more beside it for a moment. */
export const GIT_PATH_SEGMENT_BYTES_MAX = 240
/** Bytes of a file to be imported: a document, and the block that an export puts in front of it. */
export const IMPORT_FILE_BYTES_MAX = 17 * MIB
