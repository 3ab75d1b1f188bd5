/**
 * Every named bound of the service, one constant each, with its arithmetic or its reason. Nothing that can grow with input, load or time is without an entry here.
 * Read by all threads; pure data. Bounds that tests must reach quickly are in `OVERRIDABLE`: the running value is `config.limits.<NAME>`, set by `SVC_LIMIT_<NAME>`.
 */

const KIB = 1024
const MIB = 1024 * KIB
const GIB = 1024 * MIB

// ---- Input: what one request may say -------------------------------------------------------------------------------------------------------------------------

/** What LMDB takes as a key with pages of 4 KiB. A longer one is in no table, and asking for it throws. */
export const TRUTH_KEY_BYTES_MAX = 1978
/** UTF-8 bytes. LMDB keys end at 1 978 B here: 4 (collection) + 1 024 (key) + 1 (separator) + 35 (lang) leaves room for growth by lower-casing. */
export const KEY_BYTES_MAX = 1024
/** UTF-8 bytes. Names are shown in lists and metric labels; a hash fits twice. */
export const COLLECTION_BYTES_MAX = 128
/** UTF-8 bytes. The longest registered BCP 47 tags need 35 characters (RFC 5646, section 4.4.1). */
export const LANG_BYTES_MAX = 35
/** Keys in one document's metadata. 256 x 1 024 x 8 KiB is far above the document bound, which then decides. */
export const META_KEYS_MAX = 256
/** Values of one metadata key. */
export const META_VALUES_MAX = 1024
/** UTF-8 bytes of one metadata key. It becomes a part of dictionary keys and of answers' object keys. */
export const META_KEY_BYTES_MAX = 512
/** UTF-8 bytes of one metadata value. */
export const META_VALUE_BYTES_MAX = 8 * KIB
/** UTF-8 bytes of one document's content: half of the body bound, because JSON escapes can double it. */
export const DOCUMENT_BYTES_MAX = 16 * MIB
/** Documents in one add-batch or delete-batch; cut into commit slices of `COMMIT_SLICE_DOCUMENTS_MAX`. */
export const BATCH_DOCUMENTS_MAX = 10_000
/** Nesting of a JSON body: deeper is an attack on recursion, and no shape of ours needs more than 6. */
export const JSON_DEPTH_MAX = 64
/**
 * Objects and lists of one body that are kept: 70 MB of heap. A batch of 500 documents with 256 metadata
 * lists each has 129 000.
 */
export const JSON_CONTAINERS_MAX = 1_048_576
/**
 * Texts, numbers, words, objects and lists of one body that are kept: 0.7 s of the parser and 110 MB at
 * worst. 10 000 documents with 100 values of metadata each have half as many.
 */
export const JSON_VALUES_MAX = 2_097_152
/**
 * Different beginnings of objects in one body: the names of members so far, in their order. The parser makes
 * a hidden class for each: 0.4 s and 60 MB. 10 000 documents whose metadata have no order of keys in common
 * have some 100 000.
 */
export const JSON_SHAPES_MAX = 262_144
/**
 * Bodies from here on are looked through for all this before they are parsed: smaller ones can't take 6 MB of
 * heap.
 */
export const JSON_SCANNED_BYTES_MIN = 64 * KIB
/** Bytes of one request body on every surface (`SVC_MAX_BODY_BYTES`). */
export const BODY_BYTES_DEFAULT = 32 * MIB
/** Highest `SVC_MAX_BODY_BYTES`: V8 strings end at 512 MiB - 24, and the body is held twice while it is parsed. */
export const BODY_BYTES_CEILING = 256 * MIB
/** UTF-8 bytes of a full-text query. */
export const QUERY_BYTES_MAX = 4 * KIB
/** Values in a `filterMeta`, over all its keys. */
export const FILTER_VALUES_MAX = 256
/** A `limit` above is clamped to this, not refused. */
export const LIMIT_MAX = 10_000
/** `limit` where the request says none. */
export const LIMIT_DEFAULT = 50
/** offset + limit: the heap of a sorted page holds as many entries, 100 000 x 16 B = 1.6 MB. */
export const PAGE_DEPTH_MAX = 100_000
/** Entries of `env` in /v1/get. */
export const TEMPLATE_VARIABLES_MAX = 256
/**
 * UTF-8 bytes of their names together, escaped: 256 of 4 KiB. Looking for them takes 40 times as much memory.
 */
export const TEMPLATE_NAMES_BYTES_MAX = MIB
/** Seconds. 100 years: a later expiry is a mistake in the unit. */
export const TTL_SECONDS_MAX = 100 * 365 * 86_400
/**
 * Unix seconds that a write may state as `addedAt` and `updatedAt`: as far as records of histories reach, the
 * year 2106.
 */
export const STATED_TIME_MAX = 0xffff_ffff
/** Unix seconds that a write may state as `expiresAt`: what a `ttl` can lead to. */
export const STATED_EXPIRY_MAX = STATED_TIME_MAX + TTL_SECONDS_MAX
/** Fields of `fieldWeights` that are scored, as the engine's `kPlanFieldsMax`: 5 are standard, and each costs a cursor for every term. */
export const FIELD_WEIGHTS_MAX = 64
/** Error texts in the answer to a batch; the counters stay exact. */
export const BATCH_ERRORS_MAX = 50

/** Characters of the `hint` of a refusal: two lines of a terminal for each of three fields. */
export const HINT_CHARACTERS_MAX = 500
/** Characters of what came that a hint quotes: enough to know it again, too few to be a document. */
export const HINT_EXCERPT_CHARACTERS_MAX = 40
/** A longer example of what is expected is left out of a hint, and a longer name of a field is cut. */
export const HINT_EXAMPLE_CHARACTERS_MAX = 80

// ---- Queues and batches: what may wait ------------------------------------------------------------------------------------------------------------------------

/** Requests waiting for a read lane, class point. At 20 us each, 4 096 wait 80 ms. */
export const QUEUE_POINT_REQUESTS_MAX = 4096
/** Requests waiting for a read lane, class search. At 2 ms each over 2 lanes, 1 024 wait 1 s, half of the queue timeout. */
export const QUEUE_SEARCH_REQUESTS_MAX = 1024
/** Requests waiting to be prepared or committed. */
export const QUEUE_WRITE_REQUESTS_MAX = 4096
/** Requests waiting for the bulk lane: each may hold a whole body. */
export const QUEUE_HEAVY_REQUESTS_MAX = 64
/** Bytes of all request bodies that are held at once: eight of the largest. */
export const BODIES_IN_FLIGHT_BYTES_MAX = 256 * MIB
/** What clients have not taken yet of large answers, over all connections: above it the next one that does not read loses its connection. Two of the largest answers. */
export const ANSWERS_UNSENT_BYTES_MAX = 512 * MIB

/** JSON of documents that all read lanes together keep at hand: 12 000 of 5 KB, the first pages of some hundred listings. */
export const DOCUMENT_CACHE_BYTES_MAX = 64 * MIB
/** Pages of more documents are not remembered: one of 300 would drive out thirty of ten, is asked for once, and the garbage it left took a third of its own time. */
export const CACHED_PAGE_DOCUMENTS_MAX = 100
/** A larger document is not kept: it would drive out fifty others, and copying it costs more than finding it. */
export const DOCUMENT_CACHED_BYTES_MAX = 256 * KIB

/**
 * Bodies that the memory backend keeps, of all collections: 200 000 of 5 KB. They lie nowhere else, so that none may be dropped for another: a write that would exceed it is
 * refused, and the machine keeps the rest of its memory for the page cache, from which everything else is read.
 */
export const HELD_BODIES_KEPT_BYTES_MAX = GIB
/** Bodies fetched from object stores that are at hand for all threads: 50 000 of 5 KB, each of which saves a request of some milliseconds. What was used longest ago goes first. */
export const HELD_BODIES_CACHED_BYTES_MAX = 256 * MIB

// ---- Full-text search -----------------------------------------------------------------------------------------------------------------------------------------

/** Term and phrase leaves of one search plan (docs/formats/search-plan.md): a 4 KiB query has at most 2 048 tokens, and real ones end at a few hundred. */
export const PLAN_LEAVES_MAX = 1024
/** Levels of one search plan's tree (same format). */
export const PLAN_DEPTH_MAX = 64
/** Edits of a fuzzy word: the contract's. */
export const FUZZY_EDITS_MAX = 2
/** Positions between words that have to be near each other, where the query says none: the contract's. */
export const PROXIMITY_DISTANCE_DEFAULT = 5
/** A higher distance is clamped to this: about the longest document of the corpora. */
export const PROXIMITY_DISTANCE_MAX = 100_000
/** Words of the query times scored fields, as the engine's `kPlanCursorsMax`: each is an open cursor of 1.2 KB, 20 MB together. */
export const PLAN_CURSORS_MAX = 16_384
/** Nested parentheses in a query: bounds the parser's recursion, 4 frames a level. */
export const FTS_QUERY_NESTING_MAX = 64
/** Fields in one `facetBy`: each is counted for each result. */
export const FACETS_MAX = 64
/** `maxFacetSize` where the request says none. */
export const FACET_SIZE_DEFAULT = 50
/** Distinct values that one aggregation counts, over all its facets: 0.1 s. */
export const FACET_VALUES_COUNTED_MAX = 1_000_000
/** Documents that have expired and wait for the sweep, looked at for one aggregation: 0.3 s of reading. Those beyond count until they are swept. */
export const AGGREGATE_DUE_MAX = 65_536
/** Ranges of one `rangeMeta`. */
export const RANGES_MAX = 64
/** Values of one `boost`, and the highest factor of each (and by how much one may divide): 64 of them stay finite. */
export const BOOSTS_MAX = 64
export const BOOST_FACTOR_MAX = 10_000
/** Hits asked for beyond the limit, for documents that expired or moved on between the engine's snapshot and the store's: at 5 000 writes/s a 2 ms search sees 10. */
export const FTS_SLACK_HITS = 16
/**
 * Hits of one search at most, where it is repeated for more because hits that expired or match no more left
 * too few: above every first one (PAGE_DEPTH_MAX and what is asked for beyond it); 2 MB.
 */
export const FTS_HITS_MAX = 131_072
/** Highest field weight: weights are ratios, and a float32 must hold weight x tf without losing the small ones (2^24 / 16). */
export const FTS_FIELD_WEIGHT_MAX = 1e6
/** Content that one search analyses anew, of hits that have moved on since the index was asked: 0.5 s at 60 MB/s. Hits beyond are left out. */
export const FTS_RECHECK_BYTES_MAX = 32 * MIB
/** Searches of one multi-search: each has its own limits, and all share one deadline. */
export const MULTI_SEARCHES_MAX = 16
/** Documents of a term that are read to learn its related terms: 64 x 5 KB, some 6 ms. */
export const RELATED_DOCUMENTS_MAX = 64
/** Terms beside it whose frequency is asked for then, 10 us each. */
export const RELATED_CANDIDATES_MAX = 64
/** Terms whose related terms a lane remembers: 5 x 50 B each. */
export const RELATED_CACHED_TERMS_MAX = 10_000
/** Words of one query whose related terms are asked for: unknown ones take 0.3 s together. */
export const RELATED_QUERY_TERMS_MAX = 32
/** Seconds; the contract's longest `cacheTtl`. */
export const CACHE_TTL_SECONDS_MAX = 3600
/** Fragments of one document (`maxHighlights`), bytes of one (`fragmentSize`), of `highlightTag`. What is more is clamped; a longer tag is refused. */
export const HIGHLIGHTS_MAX = 100
export const HIGHLIGHT_FRAGMENT_BYTES_MAX = 10_000
export const HIGHLIGHT_TAG_BYTES_MAX = 256
/** Content that one answer's highlights look at, as it is stored: 0.1 s at 300 MB/s. Results beyond have no fragments. */
export const HIGHLIGHT_ANSWER_BYTES_MAX = 32 * MIB
/** Term vectors that all read lanes together keep of documents whose highlights were wanted twice: 4 to 5 KB for a document of 8 KB. */
export const TERM_VECTORS_BYTES_MAX = 64 * MIB
/** A larger document is scanned each time: making its vector would take more memory than an analyzer keeps. */
export const TERM_VECTOR_CONTENT_BYTES_MAX = 6 * MIB
/** Content handed to the highlighter at once: its input keeps the room. */
export const HIGHLIGHT_PIECE_BYTES = 256 * KIB
/** Results between two looks at the deadline while documents are read: 64 x 5 KB are 50 us. */
export const FTS_POLL_RESULTS = 64
/** Bytes of one answer that carries documents: eight of the largest bodies, within what a Buffer and a message hold. A larger page is refused, not cut. */
export const ANSWER_BYTES_MAX = 256 * MIB

// ---- Autocomplete and spell correction ------------------------------------------------------------------------------------------------------------------------

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

// ---- Front end and dispatch -----------------------------------------------------------------------------------------------------------------------------------

/** Capacity that a lane's answer writer keeps from one answer to the next: a page of 1 600 documents of 5 KB. Buffers of megabytes that come and go keep V8 marking. */
export const ANSWER_SCRATCH_BYTES_KEPT = 8 * MIB
/** Requests that are queued or in a lane, over all classes: the four queues (9 280) and what the lanes hold at most (65 x 2 x 16 reads + 2 x 256 commands). */
export const SLOTS_MAX = 12_288
/** Requests of class point or prepare in one batch. With 200 us of work each, a cap of 16 held p99 at 14 ms where no cap gave 147 ms. */
export const BATCH_REQUESTS_MAX = 16
/** Requests of a surface in a thread of its own that are under way. Beyond, it is refused as busy. */
export const SURFACE_PORT_REQUESTS_MAX = 4096
/** Bytes of their inputs. */
export const SURFACE_PORT_BYTES_MAX = 256 * MIB
/** Of the places of a queue, kept for each further surface, so that a flood on one leaves it some. */
export const SURFACE_QUEUE_SHARE = 1 / 8
/** Point reads that go to one worker rather than being dealt over two: 8 x 20 us of work is about what it costs to wake a second thread. */
export const SHARE_POINTS_MIN = 8
/** Searches in one batch: at 1 to 2 ms each, the last one waits for at most 6 ms of others. */
export const BATCH_SEARCHES_MAX = 4
/** Commands in one task of the write lane: one group, one flush. */
export const BATCH_COMMANDS_MAX = 256
/** Bytes of commands in one task of the write lane: about what 20 ms of flush write on a slow disk. One larger command goes alone. */
export const BATCH_COMMAND_BYTES_MAX = 4 * MIB
/** Batches in one read worker: one runs, one waits in its port, so that it never idles between two. */
export const TASKS_PER_READ_WORKER = 2
/** Batches in the point lane: as in a read worker. */
export const TASKS_PER_POINT_WORKER = 2
/** Tasks of the write lane: beside one that is worked off in slices, a second one brings single writes that enter between them. */
export const TASKS_PER_WRITE_WORKER = 2
/**
 * Bytes of commands from which a task of the write lane is worked off in slices or takes longer than a flush. Beside a smaller one nothing is handed over: what comes meanwhile travels together
 * when its flush is over, instead of as one group for the first that came and another for the rest.
 */
export const LONG_COMMIT_BYTES_MIN = 512 * KIB
/** Heavy work runs one at a time. */
export const TASKS_PER_BULK_WORKER = 1
/**
 * A write of at most so many bytes goes to an idle write lane unprepared: one hop less, 0.3 of 1.5 ms at the best percentiles of one connection. A larger one would hold
 * up the lane while it is analysed.
 */
export const DIRECT_WRITE_BYTES_MAX = 64 * KIB
/** Bodies up to this size are copied into a batch; above, their buffer is transferred. A transfer costs about as much as copying 8 KB. */
export const INLINE_BODY_BYTES_MAX = 8 * KIB
/**
 * Bodies of answers up to this size are copied into the envelope, which lies in memory that both threads share; above, into a block of their own, which is one copy less. Shared memory in either case: a
 * page of ten whole documents has some 60 KB, and transferring 3 000 of them a second kept the loop marking garbage for a third of its time.
 */
export const INLINE_ANSWER_BYTES_MAX = 32 * KIB
/** Finished answers that a lane holds back at most, to send them in one message. */
export const ANSWERS_COALESCED_MAX = 16
/** An envelope of answers leaves once it is this large: with one more answer it still fits a block. */
export const ENVELOPE_BYTES_WANTED = 128 * KIB
/** One block of the memory in which envelopes are passed: what is wanted, one answer more and its frame, or a page of up to 150 documents of 5 KB. A batch that is larger travels in a buffer of its own. */
export const ENVELOPE_BLOCK_BYTES = 768 * KIB
/** Blocks for the answers of one lane: its two tasks make eight pages of a block each before the loop has read the first, and the envelopes they belong to take as many. 12 MiB, of which untouched pages cost nothing. */
export const ENVELOPE_BLOCKS_PER_LANE = 16
/** A large block: one answer of at most 1 600 documents of 5 KB. A larger answer is copied into a buffer of its own, which is transferred. */
export const LARGE_BLOCK_BYTES = 8 * MIB
/** Large blocks of one lane: the loop reads one while the lane fills the other. 16 MiB, of which untouched pages cost nothing. */
export const LARGE_BLOCKS_PER_LANE = 2
/** How long a lane holds back a finished answer at most, while others of its batch run. */
export const ANSWER_HOLD_US_MAX = 200
/** How often deadlines are looked at: a late answer is late by at most this much more. */
export const DEADLINE_SWEEP_MS = 50
/** Answers kept to be given again where their request allows it (`SVC_SEARCH_CACHE_SIZE`): the contract's number. */
export const ANSWERS_CACHED_DEFAULT = 500
/** Highest `SVC_SEARCH_CACHE_SIZE`. */
export const ANSWERS_CACHED_MAX = 100_000
/** Bytes of all of them: 500 of 128 KB. */
export const ANSWERS_CACHED_BYTES_MAX = 64 * MIB
/** A larger answer is not kept: it would drive out ten others. */
export const CACHED_ANSWER_BYTES_MAX = 4 * MIB
/** Answers kept while nothing is written, of operations whose answers are small (completions, 1 KB): what people type begins with a few thousand prefixes. Bytes with the names, up to 8 KB each. */
export const ANSWERS_KEPT_MAX = 8192
export const ANSWERS_KEPT_BYTES_MAX = 16 * MIB
/** A larger request is not looked up: the body is a part of the name. */
export const CACHED_REQUEST_BYTES_MAX = 16 * KIB
/** Answers below are not compressed: gzip would save less than a packet. */
export const GZIP_BYTES_MIN = 1024
/**
 * Answers above are not compressed: it would hold a lane for more than 0.3 s, and memory for a second copy.
 */
export const GZIP_BYTES_MAX = 32 * MIB
/** Answers above are written piece by piece as the client takes them. Below, the kernel's send buffer takes most of it in one call. */
export const ANSWER_STREAMED_BYTES_MIN = 128 * KIB
/** Bytes of a refused body that are read and dropped before the connection is closed on it: a client that does not read before it has sent all then still gets its 413. */
export const DISCARDED_BYTES_MAX = 256 * MIB
/** First capacity of a body of unknown length; it doubles up to the body bound. */
export const BODY_FIRST_BYTES = 16 * KIB
/** Parameters in one query string. Headers end at 8 KB, so a query has at most 4 000 of two bytes. */
export const QUERY_PARAMETERS_MAX = 512
/** Up to this many cores, garbage is collected by the thread that made it: the lanes and the loop keep the cores busy. */
export const GC_HELPERS_CORES_MIN = 4
/**
 * V8 heap of one lane, old space, beside `LANE_HEAP_BODIES` times the largest body: what the parser makes of
 * JSON_VALUES_MAX values and JSON_SHAPES_MAX shapes is 180 MB. Contents, answers and templates lie outside of
 * it, with bounds of their own. Above it the lane dies alone. With bodies of 32 MiB it is 384 MB together, so
 * that one request stays under 600 MB (docs/decisions/0168-what-one-request-may-take.md).
 */
export const LANE_HEAP_MB_MAX = 256
/** A body as text of two bytes a character, and its texts once more, parsed. */
export const LANE_HEAP_BODIES = 4
/** V8 heap of one lane, young space: answers die young, and 16 MB keeps scavenges under 1 ms. */
export const LANE_YOUNG_HEAP_MB = 16
/** Threads that count: 64 read lanes, point, write, bulk, main, and room for those that take the place of dead ones. */
export const THREADS_MAX = 80
/** Read workers that may die within LANE_DEATHS_WINDOW_MS before the server gives up: one bad request must not end it, a broken build must. */
export const LANE_DEATHS_MAX = 10
export const LANE_DEATHS_WINDOW_MS = 60_000
/**
 * How long the reason of a lane's death is waited for, which comes by another way than the death, when its
 * thread has ended: it frees its heap first. Also how long one is believed to be that of a death.
 */
export const LANE_DEATH_REASON_MS = 5_000
/** The same for the write lane, whose death ends the process: a new one would need more to open the store. */
export const WRITE_LANE_DEATH_REASON_MS = 100
/** A server that ended within this time of its start failed quickly: the next start would, too, as a rule. */
export const SUPERVISOR_QUICK_MS = 10_000
/**
 * Pause before a restart after a quick failure; it doubles with each further one. Without end: what prevented
 * the start (a full disk, too little memory) may be gone in an hour.
 */
export const SUPERVISOR_BACKOFF_MS_FIRST = 1_000
export const SUPERVISOR_BACKOFF_MS_MAX = 60_000
/** Collections that a start names whose credentials it can't open: a line that can be read. */
export const CREDENTIAL_NAMES_SHOWN = 5
/** Between two looks whether the index reaches the disk: as often as the engine tries again. */
export const INDEX_WATCH_MS = 1000
/** How long the answers that a fatal fault still sends have to leave their sockets before the process kills itself. */
export const LAST_WORDS_MS = 50

// ---- Store ----------------------------------------------------------------------------------------------------------------------------------------------------

/** Address space reserved for the truth env, not memory or disk; beyond the largest file that a single node should hold. */
export const TRUTH_MAP_BYTES = 256 * GIB
/**
 * Values up to so long get their checksum in one reused buffer: longer ones are few, and the buffer that each
 * needs costs less than its copy.
 */
export const ROW_SCRATCH_BYTES = 64 * KIB
/**
 * Rows, and bytes of their values, that get their checksums in one transaction after an upgrade: some 20 ms
 * of the write lane, which then is left to others as long.
 */
export const UPGRADE_ROWS_MAX = 2000
export const UPGRADE_BYTES_MAX = 2 * MIB
/** The latest second that histories hold, in u32: February 2106. */
export const UNIX_SECONDS_MAX = 0xffff_ffff
/**
 * Damaged records of which a thread says once that it has passed them over; behind so many the store has to
 * be restored anyhow.
 */
export const NOTED_DAMAGE_MAX = 1000
/** Findings of a comparison of the store with itself that are named one by one; the others are counted. */
export const FINDINGS_LISTED_MAX = 1000
/** Reader slots of the truth env: a slot per thread, and threads end at 64 read lanes + point + write + bulk + main. */
export const TRUTH_READERS_MAX = 126
/** Bytes of a stored body after decompression: a document whose every byte is escaped as \u00XX (6 B). Larger is damage, not data. */
export const BODY_RAW_BYTES_MAX = 6 * DOCUMENT_BYTES_MAX
/** Contents that are compared to make a delta: 1.5 ms of the write lane. Larger ones stay whole. */
export const DELTA_RAW_BYTES_MAX = 1 * MIB
/** Of so many revisions of a document that follow each other one is stored whole; the others are reached from it delta by delta, 1 to 3 us each for 10 KB. */
export const DELTA_CHAIN_REVISIONS = 64
/** A lane keeps this much space to pack bodies in: one of 120 KB in the worst case, and few are larger. Those get space of their own. */
export const PACKING_SPACE_BYTES = 128 * 1024
/** A commit that has not returned by then may never: stop acknowledging. */
export const COMMIT_SILENCE_MS_MAX = 10_000
/** How often the front end looks whether a commit has come to that. */
export const COMMIT_WATCH_MS = 500
/**
 * Free space under which writes are refused (`SVC_DISK_RESERVE`): this part of the file system, at most
 * DISK_RESERVE_BYTES_MAX. The index is flushed and merged into it, and deletes are written.
 */
export const DISK_RESERVE_SHARE = 16
export const DISK_RESERVE_BYTES_MAX = 64 * MIB
/**
 * So much of it lies in a file, which makes room for deletes and the shutdown where others have taken the
 * rest: several groups of FULL_DISK_GROUP_DOCUMENTS.
 */
export const RESERVE_FILE_SHARE = 4
export const RESERVE_FILE_BYTES_MAX = 4 * MIB
/** That file is written in pieces of this size, so that a lane and the disk have other work in between. */
export const RESERVE_FILE_PIECE_BYTES = 256 * KIB
/**
 * How often the write lane looks at the disk while nothing is written: a statfs. So soon writing is resumed,
 * too.
 */
export const DISK_WATCH_MS = 500
/**
 * While the disk is full groups are small, so that the pages which they copy fit into what is reserved: 64
 * documents are about 1 MB.
 */
export const FULL_DISK_GROUP_DOCUMENTS = 64
/**
 * Rows that such a group removes unasked (binlog entries, deleted collections), for the same reason. After
 * each group that was refused all the same, a quarter of them.
 */
export const FULL_DISK_ROWS = 64
/**
 * A commit was refused in spite of unused pages of the env: the pause until they count as space again. It
 * doubles each time.
 */
export const DISK_RETRY_MS_FIRST = 1000
export const DISK_RETRY_MS_MAX = 30_000
/**
 * While the disk refuses the index, writes that find room in the truth env are accepted until so much of the
 * index is in memory alone. A start replays it.
 */
export const INDEX_NOT_STORED_BYTES_MAX = 16 * MIB
/**
 * Binlog that is kept while the disk is full, unless the index on disk still needs more: its pages take new
 * documents.
 */
export const FULL_DISK_BINLOG_BYTES = MIB
/** Binlog bytes kept where no consumer needs them (`SVC_BINLOG_MAX_SIZE`). */
export const BINLOG_BYTES_DEFAULT = 256 * MIB
/** Documents of a batch committed in one transaction; between slices single writes may enter. */
export const COMMIT_SLICE_DOCUMENTS_MAX = 64

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

/**
 * Lines that differ, up to which the shortest diff is looked for: time and memory go with the square, 2 000 x
 * 2 000 / 2 x 50 B at worst.
 */
export const DIFF_EDITS_MAX = 2000
/** How long it is looked for: a tenth of the deadline. */
export const DIFF_MS_MAX = 1000
/**
 * Bytes of both texts, escaped, that are compared line by line, once what they have in front and behind is
 * left out. More counts as replaced.
 */
export const DIFF_TEXT_COMPARED_MAX = 8 * MIB
/** Lines of both that are compared: each is a text and a number in JavaScript's heap, some 100 B. */
export const DIFF_LINES_MAX = 262_144

// ---- Export of histories --------------------------------------------------------------------------------------------------------------------------------------

/** Documents whose histories are asked for at once: each answer may have 256 MB, most have some KB. */
export const GIT_EXPORT_DOCUMENTS_AT_ONCE = 8
/** Bytes of the stream that are written at once. */
export const GIT_EXPORT_WRITTEN_BYTES = 256 * KIB
/** Bytes that are kept of what git says beside its work: the reason of a failure stands among the first lines. */
export const GIT_EXPORT_SAID_BYTES_MAX = 16 * KIB
/** States of one export: some 100 B each are held until they are put in order, and as much of each document. */
export const GIT_EXPORT_STATES_MAX = 10_000_000
/** Bytes of one part of a path: file systems take 255, and checkouts write a few more beside it for a moment. */
export const GIT_PATH_SEGMENT_BYTES_MAX = 240
/** Bytes of a file to be imported: a document, and the block that an export puts in front of it. */
export const IMPORT_FILE_BYTES_MAX = 17 * MIB

// ---- Answers in parts -----------------------------------------------------------------------------------------------------------------------------------------

/** Answers that a lane gives in parts at the same time: each keeps some MB at most (a ZIP export 4 MB of names). */
export const ANSWER_STREAMS_MAX = 16
/** A part of an answer is handed to its socket in pieces: what uWebSockets.js copies when the socket is full. */
export const PART_PIECE_BYTES = 256 * KIB
/** How often a byte of an answer in parts is written at least: uWebSockets.js gives up 8 to 12 s after the last one. */
export const PART_PULSE_MS = 3_000
/** Bytes kept back for that until the next part is there: 40 x 3 s are its deadline. */
export const PART_RESERVE_BYTES = 40
/** A client that takes nothing of an answer in parts for so long loses its connection. */
export const PART_STALL_MS_MAX = 60_000
/**
 * A consumer that keeps a chunk of a streamed request body for so long ends its request. The client's socket is
 * paused meanwhile, so nobody else would end it.
 */
export const BODY_STALL_MS_MAX = 30_000
/**
 * Bytes that a client has not taken yet of a pushed answer. Above, it loses its connection: 512 slow clients fill
 * ANSWERS_UNSENT_BYTES_MAX.
 */
export const PUSH_UNSENT_BYTES_MAX = MIB
/** How often a quiet pushed answer gets a pulse. Two intervals are shorter than the 8 s after which uWebSockets.js may give up. */
export const PUSH_PULSE_MS = 3_000
/**
 * A write of at least so much bypasses the cork buffer of uWebSockets.js (16 KiB), and only such a write says
 * whether the client has taken everything before it.
 */
export const PUSH_PROBE_BYTES = 16 * KIB
/** Bytes of smaller pieces after which the next one is filled up with pulses to a probe: 6 % more at most. */
export const PUSH_UNPROBED_BYTES_MAX = 256 * KIB

// ---- Export ---------------------------------------------------------------------------------------------------------------------------------------------------

/** A part of an export ends with the document that reaches this: 200 of 5 KB, some 3 ms of the bulk lane. */
export const EXPORT_PART_BYTES = MIB
/** Documents that a part looks at where a filter lets few through: 5 us each. */
export const EXPORT_PAGE_DOCUMENTS_MAX = 2048
/** Documents between two looks at whether somebody still waits. */
export const EXPORT_POLL_DOCUMENTS = 64
/** UTF-8 bytes of a file name: what the common file systems take. */
export const EXPORT_NAME_BYTES_MAX = 255
/** Bits in which a ZIP export remembers the names that it has given, 4 MiB: of 1 000 000 names 2 in 10 000 seem to be there already, of 100 000 none. */
export const EXPORT_NAME_BITS = 2 ** 25
export const EXPORT_NAME_HASHES = 4
/** Names tried for one document; the second has its docid already. */
export const EXPORT_NAME_TRIES_MAX = 8
/** zlib level of files in a ZIP export: the lane is what is scarce. */
export const ZIP_DEFLATE_LEVEL = 1
/** What a spool holds in memory, and reads at once. */
export const SPOOL_BUFFER_BYTES = 64 * KIB

// ---- Backup and restore ---------------------------------------------------------------------------------------------------------------------------------------

/** What is read of a backup at once: its checksum takes 0.2 ms. */
export const BACKUP_PIECE_BYTES = MIB
/** Names by the time that are tried for one backup: those of one second, made one after the other. */
export const BACKUP_NAMES_TRIED_MAX = 1000
/** Backups that a listing shows, the newest; each is opened for its seal. */
export const BACKUPS_LISTED_MAX = 1000
/** Rows that one transaction removes while a restored binlog is reset. */
export const RESTORE_ROWS_PER_TRANSACTION = 10_000
/** Requests that wait for the long lane: a backup each, at most a few. */
export const QUEUE_LONG_REQUESTS_MAX = 16
/** A backup or restore may take this long: 100 GB at 50 MB/s. */
export const DEADLINE_LONG_MS = 3_600_000
/** For how long writes are held at most while a restore waits for those under way: the longest deadline. After that it gives up. */
export const SWITCH_DRAIN_MS_MAX = 120_000
/** A lane that has not adopted the next generation by then never will. */
export const SWITCH_LANE_MS_MAX = 30_000
/** Opening takes milliseconds, but vectors of encrypted collections have no files and are read from the store meanwhile: 20 million at 30 us. Nothing is held back by it. */
export const SWITCH_OPEN_MS_MAX = 600_000
/** V8 heap of the process that checks a restored store and builds its index: as a lane's. */
export const RESTORE_HEAP_MB_MAX = 1024
/** V8 heap of the process that `mds doctor` reads a store in: what it keeps is one document's states. */
export const DOCTOR_HEAP_MB_MAX = 1024
/**
 * Rows, and bytes of their values, between two messages of the process that `mds doctor` reads a store in:
 * where it died is known as exactly.
 */
export const DOCTOR_SLICE_ROWS = 20_000
export const DOCTOR_SLICE_BYTES = 64 * MIB
/** Vectors that the process gives to its engine before it waits for their files: with their codes and the index this keeps it below a GB. */
export const RESTORE_VECTOR_BYTES_UNSTORED = 256 * MIB
/** How often a restore looks whether somebody still waits for it. */
export const RESTORE_POLL_MS = 200
/** One at a time. */
export const TASKS_PER_LONG_WORKER = 1

// ---- Revisions ------------------------------------------------------------------------------------------------------------------------------------------------

/** Superseded states that one entry lets go of: about 3 ms. A document with more beyond `maxRevisions` is brought down by its next writes. */
export const REVISIONS_TRIMMED_PER_ENTRY_MAX = 512
/** Documents that one slice of a truncation looks at: a head and a look at its history each, some 4 ms. */
export const TRUNCATE_SLICE_DOCUMENTS_MAX = 512
/** Revisions after which a slice of a truncation ends. */
export const TRUNCATE_SLICE_REVISIONS_MAX = 512

// ---- Import ---------------------------------------------------------------------------------------------------------------------------------------------------

/** Bytes of one add-batch body that `mds import` sends; a larger document goes alone. A quarter of the body bound, and 500 documents of 5 KB are 2.5 MB. */
export const IMPORT_BATCH_BYTES_MAX = 8 * MIB
/** Documents in one add-batch body of `mds import`, when not told otherwise. */
export const IMPORT_BATCH_DOCUMENTS_DEFAULT = 500
/** Requests of one import in flight. Above this the server only queues: it commits on one lane. */
export const IMPORT_CONCURRENCY_MAX = 16

// ---- Jobs ---------------------------------------------------------------------------------------------------------------------------------------------------

/** Finished jobs that are remembered of each kind: a list of them, with 50 messages each, has 4 MB. */
export const JOBS_KEPT_MAX = 256
/** UTF-8 bytes of one message that a job keeps: with 50 of them a record stays below 32 KB, and each slice of 64 documents writes it again. */
export const JOB_MESSAGE_BYTES_MAX = 512
/** Documents of a bulk ingest that are prepared and committed together; the contract's. */
export const INGEST_CHUNK_DOCUMENTS_MAX = 500
/** JSON characters from which a chunk ends earlier: what the bulk lane holds at once, and how long others wait for it, 0.3 s. A larger document goes alone. */
export const INGEST_CHUNK_BYTES_WANTED = 8 * 1024 * 1024
/** Jobs that wait beside the one that runs; the contract's. */
export const INGESTS_QUEUED_MAX = 64
/** Bytes of the documents of all jobs that wait or run: eight of the largest requests. Above, a further job is refused as it is when the queue is full. */
export const INGEST_BYTES_HELD_MAX = 256 * 1024 * 1024
/** Until a chunk is asked for again whose lane had no room for it. */
export const INGEST_RETRY_MS = 500
/** A chunk waits behind whatever else the bulk lane has to do: 64 requests of up to 2 minutes would be beyond any patience, a few are not. */
export const DEADLINE_INGEST_CHUNK_MS = 600_000
/** A callback is sent once, and its answer is of no interest. */
export const CALLBACK_MS_MAX = 10_000
export const CALLBACK_ANSWER_BYTES_MAX = 16 * 1024
/** Callbacks under way. Further ones are given up: a job's record can be asked for. */
export const CALLBACKS_MAX = 64
/** UTF-8 bytes of a job's id; ours have at most 40. */
export const JOB_ID_BYTES_MAX = 128

// ---- Requests that the server sends -------------------------------------------------------------------------------------------------------------------------

/** UTF-8 bytes of an address that a client gives us: what browsers and proxies take. */
export const OUTBOUND_URL_BYTES_MAX = 2048
/** From the name look-up to the last byte of the answer, redirects included, where the caller says nothing else. */
export const OUTBOUND_MS_MAX = 10_000
/** Until one address has taken the connection, TLS included: two can be tried within the whole. */
export const OUTBOUND_CONNECT_MS_MAX = 4_000
/** Addresses of one host that are tried. */
export const OUTBOUND_ADDRESSES_MAX = 4
/** Bytes of an answer after inflation, where the caller says nothing else. */
export const OUTBOUND_BYTES_MAX = 10 * MIB
/** Bytes of an answer's headers. */
export const OUTBOUND_HEADER_BYTES_MAX = 16 * KIB
/** Redirects that one request follows. */
export const OUTBOUND_REDIRECTS_MAX = 5
/** Entries of `SVC_OUTBOUND_ALLOWLIST`: each is compared with every address. */
export const OUTBOUND_ALLOWED_MAX = 256

/** One request to an object store, until it is asked again. */
export const S3_ATTEMPT_MS_MAX = 4_000
/** All attempts for one object: a write that waits for it still ends before its own deadline. */
export const S3_MS_MAX = 10_000
/** Requests for one object, with a random wait of up to 0.1, 0.2 and 0.4 s between them. */
export const S3_ATTEMPTS_MAX = 4
export const S3_WAIT_MS_FIRST = 100
/** Connections that are kept to one store. Above, requests wait for one of them. */
export const S3_CONNECTIONS_MAX = 32
/** UTF-8 bytes of an object's key with its prefix; S3's. */
export const S3_KEY_BYTES_MAX = 1024
/** Bytes of an object: a stored body of the largest document, whose every byte is an escape of six. */
export const S3_OBJECT_BYTES_MAX = 97 * MIB
/** Keys of one page of a listing; S3's. */
export const S3_LISTED_MAX = 1000
/** Bytes of an answer that is not an object: a page of the longest keys, every byte escaped. */
export const S3_ANSWER_BYTES_MAX = 8 * MIB

// ---- Embedding providers ------------------------------------------------------------------------------------------------------------------------------------

/** UTF-8 bytes of a model's name: the longest known ones, with an owner and a tag, have some 100. */
export const EMBEDDING_MODEL_BYTES_MAX = 256
/** UTF-8 bytes of what names the vectors of one provider, model and number of dimensions: the model's and the rest's. */
export const EMBEDDING_VARIANT_BYTES_MAX = EMBEDDING_MODEL_BYTES_MAX + 64

/** Dimensions of a vector: the largest known models have 4 096; a row of 8 192 floats is 32 KB. */
export const EMBEDDING_DIMENSIONS_MAX = 8192
/** Largest element of a vector: the native engine's bound (vector_codes.cc), so that no product of two vectors overflows a float. Those of models are below 100. */
export const VECTOR_ELEMENT_MAX = 1e15
/** ASCII characters of an API key: the longest known ones have some 200, tokens of a gateway up to 2 000. */
export const EMBEDDING_KEY_BYTES_MAX = 4096
/** Requests for the same texts, with a random wait of up to 0.5 and 1 s between them, or as long as the provider says; the reference's number. */
export const EMBEDDING_ATTEMPTS_MAX = 3
export const EMBEDDING_WAIT_MS_FIRST = 500
/** One request to a provider; the reference's number. A local model that has to be loaded first takes 5 to 20 s. */
export const EMBEDDING_ATTEMPT_MS_MAX = 30_000
/** A `Retry-After` up to here is waited for within the call; a longer one ends the call and keeps further ones from being sent until then. */
export const EMBEDDING_RETRY_AFTER_WAITED_MS_MAX = 5_000
/** A `Retry-After` beyond is cut to this: one that means days must not silence a provider for days after its quota is back. */
export const EMBEDDING_RETRY_AFTER_MS_MAX = 600_000
/** Requests to one provider at the same time; hosted ones answer as many side by side, a local one works them off in turn. */
export const EMBEDDING_REQUESTS_AT_ONCE = 4
/** Of those, for documents: a query never waits for a whole backlog. */
export const EMBEDDING_DOCUMENT_REQUESTS_AT_ONCE = EMBEDDING_REQUESTS_AT_ONCE - 1
/** Calls that wait for their turn: at 4 side by side and 50 ms each, 1 024 take 13 s, just within a query's patience. */
export const EMBEDDING_CALLS_WAITING_MAX = 1024
/** Requests that failed in a row until no more are sent. */
export const EMBEDDING_FAILURES_IN_ROW_MAX = 5
/** For how long then; doubled with each trial that fails. */
export const EMBEDDING_PAUSE_MS_FIRST = 5_000
export const EMBEDDING_PAUSE_MS_MAX = 60_000
/** A request that its caller gave up counts as a failed one when it had waited for so long. */
export const EMBEDDING_SLOW_MS = 10_000
/** Numbers that one answer may give as decimal text: the loop parses 32 768 of them, 0.7 MB, in 5 ms. Encoded in base64 twice as many take 2 ms. */
export const EMBEDDING_NUMBERS_MAX = 32_768
export const EMBEDDING_NUMBERS_ENCODED_MAX = 2 * EMBEDDING_NUMBERS_MAX
/** Bytes of an answer beside its vectors, or of one that is a refusal. */
export const EMBEDDING_ANSWER_FRAME_BYTES = 256 * KIB
/** Bytes of one value as decimal text, at most: `-1.2345678901234567e-10, `. */
export const EMBEDDING_NUMBER_BYTES_MAX = 32

/** Until the front end asks again for the default configuration, which no lane had time to tell. */
export const EMBEDDING_RELOAD_MS = 1000
/** How long a start's question to a local Ollama may take: one that is there answers in a few milliseconds, and nothing waits for it. */
export const OLLAMA_DETECTION_MS_MAX = 1000

/** Documents that may wait for their vectors before writes wait for room (`SVC_EMBEDDING_QUEUE_SIZE`), and how long a write does (`SVC_EMBEDDING_QUEUE_WAIT`): the reference's numbers. */
export const EMBEDDING_QUEUE_DEFAULT = 1000
export const EMBEDDING_QUEUE_WAIT_MS_DEFAULT = 5_000
/** Highest `SVC_EMBEDDING_QUEUE_SIZE`: a row of 20 bytes each. */
export const EMBEDDING_QUEUE_MAX = 10_000_000
/** Characters (code points) of a chunk (`SVC_EMBEDDING_CHUNK_SIZE`): the reference's number, some 350 tokens, which every known model takes whole. */
export const EMBEDDING_CHUNK_CHARACTERS_DEFAULT = 1500
/** Smaller chunks say nothing by themselves; larger ones are cut by every provider. */
export const EMBEDDING_CHUNK_CHARACTERS_MIN = 100
export const EMBEDDING_CHUNK_CHARACTERS_MAX = 100_000
/** Vectors of query texts that are kept (`SVC_EMBEDDING_CACHE_SIZE`, `_TTL`): the reference's numbers. 1 024 x 6 KB; the most: 400 MB. */
export const EMBEDDINGS_CACHED_DEFAULT = 1024
export const EMBEDDINGS_CACHED_MAX = 65_536
export const EMBEDDINGS_CACHED_MS_DEFAULT = 3_600_000
/** Thirty days: a vector is the same as long as its model is. */
export const EMBEDDINGS_CACHED_MS_MAX = 30 * 86_400_000
/** `SVC_VECTOR_BQ_RERANK_FACTOR`, `_PARALLEL_WORKERS`, `_PARALLEL_MIN_SIZE`: the reference's numbers. */
export const BQ_RERANK_FACTOR_DEFAULT = 10
export const BQ_RERANK_FACTOR_MAX = 1000
export const VECTOR_WORKERS_MAX = 16
export const VECTOR_PARALLEL_SIZE_DEFAULT = 2048

/** Stored configurations of embedding providers: one row in a list each. */
export const EMBEDDING_CONFIGS_MAX = 64
/** UTF-8 bytes of the id of one, which is a part of an LMDB key and of a path, and of its name. */
export const EMBEDDING_CONFIG_ID_BYTES_MAX = 128
export const EMBEDDING_CONFIG_NAME_BYTES_MAX = 256

// ---- Documents that want vectors ------------------------------------------------------------------------------------------------------------------------------

/** JSON of what lanes know of a provider: name, model and variant, escaped. */
export const EMBEDDING_IDENTITY_BYTES_MAX = 4096
/** Chunks of one document that get vectors, as the engine's `kVectorChunksMax`: 65 535 of the usual size are six times the largest document. */
export const EMBEDDING_CHUNKS_MAX = 65_535
/** Documents whose vectors are given to the engine at once, at a start: 64 of three chunks of 1 536 numbers are 1.2 MB, about 1 ms. */
export const VECTOR_LOAD_DOCUMENTS = 64
/** Slices under way at the same time: one more than the provider takes at once, so that it has no pause while another is cut or stored. */
export const EMBEDDING_SLICES_MAX = EMBEDDING_DOCUMENT_REQUESTS_AT_ONCE + 1
/** Documents of one slice: 64 of 5 KB are 20 ms of the bulk lane, and a crash costs no more than one call of the provider anyway. */
export const EMBEDDING_SLICE_DOCUMENTS_MAX = 64
/** Content that is cut for one slice, but for a single document: at 35 ms a megabyte some 0.6 s of the bulk lane. 64 of the largest documents, whose chunks are few or all alike, would be 36 s. */
export const EMBEDDING_SLICE_BYTES_MAX = 16 * MIB
/** Rows of the queue that the front end holds: what all slices take at once, and as many again. */
export const EMBEDDING_QUEUE_PAGE = 2 * EMBEDDING_SLICES_MAX * EMBEDDING_SLICE_DOCUMENTS_MAX
/** A document with more chunks than a call takes goes in at most so many steps, each of which writes all that is there so far: 8 steps write 4.5 times its vectors. */
export const EMBEDDING_STEPS_MAX = 8
/** How often the front end looks whether a document wants vectors: one word of shared memory. */
export const EMBEDDING_POLL_MS = 20
/** How long the backlog waits after a provider could not be had, doubled each time. */
export const EMBEDDING_WAIT_MS_MIN = 1000
export const EMBEDDING_WAIT_MS_MAX = 60_000
/** How often a document is tried while others are embedded and it can't be: it may be what the provider dies of. */
export const EMBEDDING_TRIES_MAX = 3
/** A document that was so often in a slice for which the provider could not be had goes alone: once may be the provider's fault. */
export const EMBEDDING_FAILURES_ALONE = 2
/** Texts of one slice that are found to be refused, by halving: 64 texts with three bad ones take 18. Above it the rest counts as refused. */
export const EMBEDDING_REFUSALS_MAX = 24
/** Between two tries to hand over to a lane what a provider was paid for. */
export const EMBEDDING_STORE_RETRY_MS = 100
/** Between two lines of the log about documents that are not embedded, or searches that go without vectors; the counters are exact. */
export const EMBEDDING_FAILURES_TOLD_MS = 10_000
/** How often it is looked whether writes have room: four times in the shortest wait that anybody would set. */
export const EMBEDDING_ROOM_POLL_MS = 25
/** A write that waits for room is answered so long before its deadline. */
export const EMBEDDING_ROOM_MARGIN_MS = 2_000
/** Documents that one page of a reindex brings: two pages are under way, and all slices are busy. */
export const UNEMBEDDED_DOCUMENTS_MAX = EMBEDDING_SLICES_MAX * EMBEDDING_SLICE_DOCUMENTS_MAX
/** Documents that one page looks at: about 10 ms of the bulk lane where all are current. */
export const UNEMBEDDED_LOOKED_AT_MAX = 2_000
/** Reindexes of vectors at the same time; each holds two pages. */
export const REINDEXES_MAX = 8
/** A reindex is answered when all is embedded: a million documents at 20 a second take 14 hours. */
export const DEADLINE_REINDEX_MS = 86_400_000
/** Lines of a start's log about collections whose vectors another model made; /v1/vector-stats names all. */
export const STALE_COLLECTIONS_TOLD_MAX = 100
/** Texts that one request wants vectors of: 100 labels and what is classified, and some. */
export const EMBEDDINGS_WANTED_MAX = 128
/** How long a request waits for the vectors of its texts. */
export const EMBEDDINGS_WANTED_MS_MAX = 15_000
/** How long it is remembered that a provider could not embed the texts of a request that does without. */
export const EMBEDDINGS_LACKING_MS = 5_000
/** The vector of a text is at hand for as long as the request that wanted it may take, whatever the size of the cache is. */
export const EMBEDDINGS_HELD_MS_MIN = 2 * EMBEDDINGS_WANTED_MS_MAX
/** Texts whose vectors are at hand for requests under way, beyond the size of the cache. */
export const EMBEDDINGS_HELD_MAX = 4_096

// ---- Storage backends ---------------------------------------------------------------------------------------------------------------------------------------

/** Objects that one round of a request fetches: a page of the default size, twice. */
export const OBJECTS_WANTED_MAX = 100
/** Their bytes, but for the last: half of what is held of fetched objects, so that a page's are there together. */
export const OBJECTS_WANTED_BYTES = 128 * MIB
/** Bytes of requests, commands and objects that the front end holds while it sends and fetches objects: twice the bodies of requests, because their clients may have gone. Beyond, 503. */
export const SUSPENDED_BYTES_MAX = 512 * MIB
/** Objects that are sent or fetched side by side for one request. */
export const OBJECTS_AT_ONCE_MAX = 16
/** Objects of a collection that are looked at for where its bodies lie, when credentials of a place are lost. */
export const LOCATION_OBJECTS_LOOKED_AT_MAX = 1024
/** Places in object stores that a server knows, each with connections of its own. */
export const LOCATIONS_MAX = 64
/** Documents that are looked at in one go for those whose bodies lie elsewhere than they should: 20 000 x 1 us. */
export const MISPLACED_LOOKED_AT_MAX = 20_000
/** Documents that one step moves from one backend to another. */
export const MOVED_DOCUMENTS_MAX = 64
/** Bytes of contents that one step moves, but for the last. */
export const MOVED_BYTES_WANTED = 8 * MIB
/** How often the front end asks whether bodies lie where they should. */
export const MOVES_POLL_MS = 5_000
/** After a step that a store did not take. */
export const MOVES_RETRY_MS = 30_000
/** How often objects are looked through for those that nothing refers to. */
export const OBJECT_SWEEP_MS = 3_600_000
/** After one in which a store did not answer. */
export const SWEEP_RETRY_MS = 30_000
/** How soon, and how often as long as there are any, objects are looked for that show an encrypted collection in clear. */
export const CLEAR_SWEEP_MS = 5_000
/** Releases of objects that one transaction, or one look, goes through: about 1 ms. */
export const RELEASES_LOOKED_AT_MAX = 1024
/** Seconds that such an object is kept (`SVC_S3_RETENTION`): a backup of before can be restored so long. */
export const OBJECT_RETENTION_SECONDS_DEFAULT = 86_400
/** A chore whose round failed is tried again after so long, twice as long after each further failure. */
export const CHORE_RETRY_MS_FIRST = 1000
export const CHORE_RETRY_MS_MAX = 60_000
/** How often a chore that may not write asks for the role again: one read of a shared word. */
export const CHORE_STANDBY_MS = 1000
/** The longest rest of a chore: a timer of Node.js takes no more. */
export const CHORE_REST_MS_MAX = 2 ** 31 - 1
/** How often a start tries again to fetch what the index misses. */
export const UNINDEXED_RETRY_MS = 30_000
/** How often the write lane looks whether the index misses something: one look-up. */
export const UNINDEXED_POLL_MS = 1_000

// ---- Encryption at rest -------------------------------------------------------------------------------------------------------------------------------------

/** Collections whose seals (keys, salt) a lane keeps at hand: 1 024 x 1 KB. */
export const SEALS_KEPT_MAX = 1024
/** Languages of one collection whose hashes a lane keeps: 256 x 100 B. */
export const SEAL_LANGS_KEPT_MAX = 256
/** Master keys beside the primary one. */
export const PREVIOUS_KEYS_MAX = 16
/** Rows that one step of a rotation looks at: 256 x 15 us, and a page of bodies of 3 KB is 0.8 MB to flush. */
export const ROTATION_ROWS_MAX = 256
/** Between two steps of a rotation the write lane is left alone for so many times what the step took: a fifth of one core. */
export const ROTATION_REST_FACTOR = 4
/** And at least for so long. */
export const ROTATION_REST_MS_MIN = 2
/** Between two looks at whether objects in stores have been moved that a rotation waits for. */
export const ROTATION_WAIT_MS = 2_000
/** How often the write lane looks for a rotation that was asked for. */
export const ROTATION_POLL_MS = 500
/** Space of a lane to open sealed contents into, one at a time: what packs contents has as much. A larger one gets space of its own. */
export const OPENED_BODY_BYTES = 128 * 1024

// ---- Process --------------------------------------------------------------------------------------------------------------------------------------------------

/** Read lanes: more threads than this never paid and each holds an isolate (20 MB) and a WASM instance. */
export const READ_LANES_MAX = 64
/** Seconds between SIGTERM and the end of patience (`SVC_SHUTDOWN_TIMEOUT_SEC`). */
export const SHUTDOWN_SECONDS_DEFAULT = 15
/** How long a search may wait for a lane before it is refused (`SVC_SEARCH_QUEUE_TIMEOUT_MS`). */
export const SEARCH_QUEUE_MS_DEFAULT = 2000
/** Bytes of a configuration file. The largest sensible one is under 10 KB. */
export const CONFIG_FILE_BYTES_MAX = 256 * KIB
/** YAML aliases in a configuration file or frontmatter: an alias bomb needs more. */
export const YAML_ALIASES_MAX = 50
/** Warnings collected from the configuration; a container may inject hundreds of foreign variables. */
export const CONFIG_WARNINGS_MAX = 100
/** Origins and hosts whose verdict is kept, each of at most the 8 KB of all headers: 1 MB. */
export const GUARD_NAMES_KEPT_MAX = 64
/**
 * How far a lane may be behind the deadline of a request before `/livez` says that it is stuck: handlers look
 * at it several times a second, and the network is waited for 30 s at most.
 */
export const LANE_SILENCE_MS_MAX = 60_000
/** How often the gauges of disk, warnings and backups are set: below the usual interval of scrapes, 15 s. */
export const HEALTH_WATCH_MS = 5_000
/** Characters of one text in a log line: a stack of 10 frames has 1 000. */
export const LOG_TEXT_CHARS_MAX = 4096
/** How long a line waits for a reader of the log that is behind. Longer would make requests wait for it. */
export const LOG_WAIT_MS_MAX = 50
/** Highest threshold of the slow-request log: an hour is above every deadline. */
export const LOG_SLOW_MS_MAX = 3_600_000

/** Collections with lines of their own in /metrics, three each; the rest are summed under `/other`. 1 000 keep a scrape under 300 KB. */
export const METRIC_COLLECTIONS_MAX = 1000
/** How long /health and /v1/system/info reuse what they asked the system: a probe storm costs one statfs in this time. */
export const PROBE_CACHE_MS = 1000
/** Free bytes below which /health warns. A group commit and a segment merge need room. */
export const FREE_BYTES_WARNING = GIB

// ---- Deadlines, by cost class ---------------------------------------------------------------------------------------------------------------------------------

/** A point read is microseconds of work: what takes longer has waited in a queue. */
export const DEADLINE_POINT_MS = 5_000
export const DEADLINE_SEARCH_MS = 10_000
/** A search whose text may have to be embedded first: `EMBEDDINGS_WANTED_MS_MAX`, and time for the search. */
export const DEADLINE_EMBEDDED_MS = EMBEDDINGS_WANTED_MS_MAX + 5_000
/** Above COMMIT_SILENCE_MS_MAX, so that a storage failure is named before the deadline hides it. */
export const DEADLINE_WRITE_MS = 12_000
/** 10 000 documents of 5 KB at 3 000/s take 3.4 s; a reindex of 100 000 about 40 s. */
export const DEADLINE_HEAVY_MS = 120_000

/** Linear memory of a WASM analyzer that is kept for the next text. A full lexicon takes 24 MB; above twice that a giant text has passed, and memory never shrinks. */
export const ANALYZER_MEMORY_BYTES_KEPT_MAX = 48 * MIB
/** The same of the chunker's: what it needs for all but the largest documents. It holds the text, and eight bytes a chunk. */
export const CHUNKER_MEMORY_BYTES_KEPT_MAX = 8 * MIB

/**
 * Bytes of entries that consumers of the binlog may keep beyond SVC_BINLOG_MAX_SIZE: as much again as that is by default.
 * A consumer further behind is lost and begins anew.
 */
export const CONSUMER_LAG_BYTES_MAX = 256 * MIB

/**
 * Expired documents that one sweep deletes, about 15 ms; the next follows after a pause of the same length
 * where there are more. 0: none is.
 */
export const SWEEP_DOCUMENTS_MAX = 256
/**
 * Behind the requests the store is compared with itself once in so long, from one begin to the next: damage
 * is known within a day.
 */
export const SCRUB_INTERVAL_MS = 86_400_000
/** From the start of the write lane to its first comparison: a start has other things to read. */
export const SCRUB_BEGIN_MS_MAX = 60_000
/**
 * Rows, and bytes of their values, that a slice of it reads: some 3 ms of the write lane, or one large body.
 */
export const SCRUB_ROWS = 500
export const SCRUB_BYTES = MIB
/**
 * Pauses between slices, in times of the slice, so that it takes a tenth of a thread; and at least so long.
 * At 500 rows or 1 MiB in 30 ms a day is enough for 1 400 million rows or 2.8 TB.
 */
export const SCRUB_PAUSE_TIMES = 10
export const SCRUB_PAUSE_MS_MIN = 20
/**
 * Revisions or bodies of one document, and bytes of its bodies, that are compared in one slice: some 40 ms.
 */
export const SCRUB_DOCUMENT_ROWS_MAX = 5000
export const SCRUB_DOCUMENT_BYTES_MAX = 32 * MIB
/** Bounds that a test may lower through the environment; production never sets them. */
export const OVERRIDABLE = {
  QUEUE_POINT_REQUESTS_MAX,
  QUEUE_SEARCH_REQUESTS_MAX,
  QUEUE_WRITE_REQUESTS_MAX,
  QUEUE_HEAVY_REQUESTS_MAX,
  BODIES_IN_FLIGHT_BYTES_MAX,
  LANE_HEAP_MB_MAX,
  ANSWERS_UNSENT_BYTES_MAX,
  INGESTS_QUEUED_MAX,
  INGEST_BYTES_HELD_MAX,
  PART_STALL_MS_MAX,
  HELD_BODIES_KEPT_BYTES_MAX,
  HELD_BODIES_CACHED_BYTES_MAX,
  UNINDEXED_RETRY_MS,
  SWEEP_DOCUMENTS_MAX,
  SCRUB_INTERVAL_MS,
  CONSUMER_LAG_BYTES_MAX,
} as const

export type OverridableLimits = { readonly [Name in keyof typeof OVERRIDABLE]: number }

// ---- Write lane -----------------------------------------------------------------------------------------------------------------------------------------------

/** Documents that one transaction writes: four batch slices, or as many single writes; about 4 ms of work. */
export const GROUP_DOCUMENTS_MAX = 4 * COMMIT_SLICE_DOCUMENTS_MAX
/** Binlog entries and unreferenced bodies that one group may trim: twice what it can add, so that trimming keeps up. */
export const TRIM_ENTRIES_MAX = 2 * GROUP_DOCUMENTS_MAX
/** Rows of deleted collections that one maintenance slice removes: about 2 ms. */
export const PURGE_ROWS_MAX = 1024
/** Of a transaction that writes a store anew after a rotation: LMDB keeps changed pages in memory until it ends. */
export const SCRUB_BYTES_AT_ONCE = 16 * MIB
/** Free beside the size of the store that is written anew: its pages are filled otherwise. */
export const SCRUB_ROOM_BYTES = 64 * MIB
/** Entries of the binlog that one slice of packing looks at for superseded states: about 1 ms where none has any. */
export const PACKING_ENTRIES_MAX = 1024
/** Contents that one slice of packing compares, in bytes: about 2 ms of the write lane. One pair may be larger. */
export const PACKING_SLICE_BYTES = 512 * KIB
/** A consumer of the binlog stores its position at least every so many entries, also where it had nothing to do. */
export const CONSUMER_POSITION_ENTRIES = 4096n
/** Until a consumer of the binlog that failed is tried again. */
export const CONSUMER_RETRY_MS = 1000
/** Entries of the binlog that one slice looks at for notices: about 0.2 ms where none has a topic. */
export const NOTICE_ENTRIES_MAX = 1024
/** Between two slices of packing while there is work: a tenth of the write lane. */
export const PACKING_PAUSE_MS = 20
/** Between two sweeps when nothing was due. Readers treat expired documents as gone meanwhile. */
export const SWEEP_INTERVAL_MS = 1000
/** Binlog entries that one slice of a replay reads: 256 documents are about 20 ms of analysis. */
export const REPLAY_ENTRIES_PER_PAGE = 256
/** Epochs that the store remembers: an index that was last written so many unclean ends ago is rebuilt. */
export const EPOCHS_MAX = 64
/** A rebuild or replay publishes what it has gathered when it is so many bytes: one segment of large documents, built in memory. */
export const REBUILD_BATCH_BYTES = 16 * MIB
/** Documents read and analysed in one slice of an index rebuild: about 5 ms of text. */
export const REBUILD_PAGE_DOCUMENTS = 64

// ---- Command line ---------------------------------------------------------------------------------------------------------------------------------------------

/** Bytes of one NDJSON line: what fits in a request body with its frame. */
export const IMPORT_LINE_BYTES_MAX = BODY_BYTES_DEFAULT - 1024
/** Bytes of one YAML frontmatter block. The largest seen in real trees are under 20 KB. */
export const FRONTMATTER_BYTES_MAX = 256 * KIB
/** Nesting of frontmatter: each level becomes a part of a metadata key, and keys end at META_KEY_BYTES_MAX. */
export const FRONTMATTER_DEPTH_MAX = 32
/** Sends of one batch before an import gives up: waits of 0.25 s, doubled up to 8 s, add up to about 40 s, longer than a restart. */
export const IMPORT_ATTEMPTS_MAX = 10
/** Longest wait before a request is sent again, whatever `Retry-After` says. */
export const IMPORT_RETRY_WAIT_MS_MAX = 8_000
/** What `mds add` reads: the largest body that a server takes without being told otherwise. */
export const ADDED_FILE_BYTES_MAX = 32 * MIB
/** Longer than any deadline of the server, so that its answer comes first. */
export const CLIENT_REQUEST_MS_MAX = DEADLINE_HEAVY_MS + 10_000
/** Problems that an import remembers for its closing list; the counters stay exact. */
export const IMPORT_PROBLEMS_KEPT_MAX = 200
/** Looks at the index for one listing: again while expired documents leave the page short or deletes are on their way into the index, with ever more room for them. */
export const LISTING_ROUNDS_MAX = 4
/** Documents due but not swept that a listing takes off its total: a sweep removes 256 at a time without a pause, so more than this are never waiting for long. */
export const DUE_COUNTED_MAX = 10_000

// ---- Search by vectors ----------------------------------------------------------------------------------------------------------------------------------------

/** Results of a search by vector, a hybrid one and one across collections, where the request says nothing. */
export const VECTOR_TOP_K_DEFAULT = 5
export const HYBRID_TOP_K_DEFAULT = 10
export const CROSS_TOP_K_DEFAULT = 10
/** Candidates for each result: the reference's number. */
export const OVERSAMPLE_DEFAULT = 3
/** Hits asked for beyond the page, for documents that are gone by the time they are read. */
export const VECTOR_SLACK_HITS = 4
/**
 * What the vector engine gives in one answer at most (kVectorHitsMax). A sweep removes what has expired 256
 * at a time without a pause: as many that are gone never stand before others for long.
 */
export const VECTOR_HITS_MAX = 100_000
/**
 * Where so many were gone that the page is short, a search asks again for so many times as much, to the end:
 * 8 rounds from 14 hits to all that the engine gives.
 */
export const SEARCH_AGAIN_FACTOR = 4
/** Candidates of a hybrid search at least, by words and by meaning: the reference's numbers. */
export const HYBRID_WORD_CANDIDATES_MIN = 50
export const HYBRID_MEANING_CANDIDATES_MIN = 20
/** Candidates of a hybrid search at most, of each kind. */
export const HYBRID_CANDIDATES_MAX = VECTOR_HITS_MAX
/** Passages on either side of the one that matched: with 1 500 characters each, a third of a megabyte. */
export const WINDOW_SIZE_MAX = 100
/** Collections that one request searches: each costs some 20 us at least. */
export const CROSS_COLLECTIONS_MAX = 10_000
/** The contract's. */
export const CLASSIFY_LABELS_MAX = 100
/** Characters of a text that are classified: no model looks further. */
export const CLASSIFIED_CHARACTERS_MAX = 32_768
/** `maxDocs`: the contract's default; the most is what the vector engine compares. */
export const DUPLICATES_DOCUMENTS_DEFAULT = 5000
export const DUPLICATES_DOCUMENTS_MAX = 100_000
/** Nearest documents looked at for each: those of larger groups are joined through each other. */
export const DUPLICATES_NEIGHBOURS = 64
/** Points of a projection: the reference's numbers. */
export const PROJECTION_POINTS_DEFAULT = 1000
export const PROJECTION_POINTS_MAX = 2000
/** Steps of the power iteration for each axis: 2 000 vectors of 1 536 dimensions take 0.3 s. */
export const PROJECTION_ITERATIONS = 40

// ---- Local embedding models -------------------------------------------------------------------------------------------------------------------------------------

/** What the local embedding models read of a text: a text of search has 1 500 characters; the rest of a giant one changes its mean little. 15 ms of the static model. */
export const LOCAL_TEXT_BYTES_MAX = 256 * KIB
/** Texts of one task of the local embedding thread: 5 ms of static vectors at 10 MB/s; 0.2 to 0.4 s of MiniLM, for which a query may have to wait. */
export const STATIC_BATCH_MAX = 32
export const MINILM_BATCH_MAX = 4
/** Tokens that MiniLM reads of a text, as it was trained; what is beyond is left out. */
export const MINILM_TOKENS_MAX = 256
/** Of a text, before it becomes tokens: its tokens have four letters on average, and a text of longer ones ends a little early. */
export const MINILM_TEXT_CHARACTERS_MAX = 16 * MINILM_TOKENS_MAX
/** Heap of the local embedding thread: texts and vectors of a batch, the tokenizer's vocabulary. Models lie outside of it. */
export const LOCAL_MODEL_HEAP_MB_MAX = 256
