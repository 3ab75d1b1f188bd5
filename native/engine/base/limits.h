// Every limit of the native engine, each with its reason (for the vector engine see vector/vector_limits.h).
// Nothing in native/ grows without a named limit.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace mds {

// Postings per block: one docid delta and one tf each, 4 lanes x 32 rows of the SIMD bit packing.
inline constexpr uint32_t kBlockPostings = 128;

// Zero bytes behind every packed column, so that an 8-byte load at the last value stays inside the column.
inline constexpr size_t kPackedPadding = 8;

// Maximum number of occurrences of one term in one field: a document of tens of MB has fewer. Bounds the
// memory that damaged bytes can request.
inline constexpr uint32_t kTermFrequencyMax = uint32_t{1} << 26;

// A chunk of a stored segment: with LMDB's 24-byte page header exactly 16 pages of 4 KB, so that every freed
// run of pages fits the next chunk. The last kPackedPadding bytes of its value stay unused for the sake of
// 8-byte loads. 65 504 is a multiple of 32: elements of 1, 2, 4 ... 32 bytes fill a chunk without remainder.
inline constexpr size_t kChunkValueBytes = (size_t{64} << 10) - 24;
inline constexpr size_t kChunkBytes = kChunkValueBytes - kPackedPadding;

// One write transaction of the index env: 64 chunks. Bounds the heap used by LMDB's dirty pages, and how long
// a flush occupies the store.
inline constexpr size_t kStoreTransactionBytes = size_t{4} << 20;
// Keys deleted in one transaction: a delete touches tree pages only, not the 64 KB of the key's value.
inline constexpr size_t kStoreDeletesPerTransaction = 512;
// If a transaction of the index env (4 MB at most) takes longer, health reports that the index is not stored,
// and the bound on unflushed bytes applies.
inline constexpr std::chrono::milliseconds kIndexFailingAfter{5'000};
// A transaction that takes longer may never return: the process ends, and the next one replays. Longer than
// the wait for a commit of the truth env, since no client waits for this one.
inline constexpr std::chrono::milliseconds kIndexLostAfter{30'000};
// Address space reserved for the index env, which costs nothing until used: 256 GB is a thousand times the
// size of the index of 50 000 documents.
inline constexpr uint64_t kIndexMapBytes = uint64_t{256} << 30;

// A flush is due when this many bytes of batches (about the size of their text) have been published since the
// last one. Bounds what a start replays to about 0.1 s of analysis.
inline constexpr uint64_t kFlushBatchBytes = uint64_t{4} << 20;
// A flush is also due when nothing has been published for this long. Then the index also merges at rest.
inline constexpr uint32_t kFlushIdleSeconds = 30;
// Interval at which the flush thread looks whether the index is idle, sweeps, and tries a refused disk again.
// Once the index is idle and on disk, it looks every kFlushIdleSeconds.
inline constexpr uint32_t kFlushWatchSeconds = 1;

// Terms per front-coded dictionary block: a lookup decodes at most 16 entries (about 0.1 us). Larger blocks
// save less than 2 % more.
inline constexpr uint32_t kDictionaryBlockTerms = 16;

// Content of a document that the native reader of documents reads, JSON-escaped. Larger ones are rare and are
// read by src/store. Bounds what damaged bytes can request.
inline constexpr uint32_t kTruthBodyBytesMax = uint32_t{4} << 20;

// For how long a page of the truth env that was in memory is taken to be there still. The kernel evicts pages
// only while memory is short, and one in a thousand in 10 ms even if it replaces all of them in 10 s. At
// 40 000 reads a second, 400 reads share what was asked about the upper pages of the trees.
inline constexpr uint64_t kResidencyTrustMs = 10;

// Documents that one call for a page reads (DOCUMENT_PAGE_MAX in src/limits). Bounds its rows on the stack:
// 32 of 150 bytes.
inline constexpr size_t kPageDocumentsMax = 32;

// Longest key of the truth env, as LMDB computes it for pages of 4 KB (TRUTH_KEY_BYTES_MAX in
// src/store/rows/keys.ts).
inline constexpr uint32_t kTruthKeyBytesMax = 1978;

// One batch: the write lane cuts at 64 documents, and a document body has at most tens of MB. 1 GiB is never
// reached by valid input and keeps u32 offsets safe.
inline constexpr size_t kBatchBytesMax = size_t{1} << 30;

// One plan: 16 384 filter values of 256 bytes.
inline constexpr size_t kPlanBytesMax = size_t{4} << 20;
inline constexpr uint32_t kPlanLeavesMax = 1024;       // search-plan.md
inline constexpr uint32_t kPlanDepthMax = 64;          // search-plan.md; also bounds recursion
inline constexpr uint32_t kPlanNodesMax = 4096;        // leaves plus inner nodes, ALL and NONE
inline constexpr uint32_t kPlanPhraseTermsMax = 4096;  // over all phrases of a plan
// Scored fields: five by default; more only with custom field weights.
inline constexpr uint32_t kPlanFieldsMax = 64;
inline constexpr uint32_t kPlanFiltersMax = 256;
inline constexpr uint32_t kPlanFilterValuesMax = 16384;
// In place of a filter's number of values: the document has the key, whatever its values.
inline constexpr uint32_t kPlanAnyValue = 0xFFFFFFFF;
// Open cursors of one plan in one segment, leaves (and phrase terms) times fields: 16 384 x 1.2 KB of decode
// buffer = 20 MB at most.
inline constexpr uint32_t kPlanCursorsMax = 16384;

inline constexpr uint32_t kPlanRangesMax = 64;  // the service's RANGES_MAX
inline constexpr uint32_t kRangeBoundsMax = 4;  // one of each kind
inline constexpr uint32_t kPlanBoostsMax = 64;  // the service's BOOSTS_MAX; 10 000^64 fits a double
inline constexpr double kBoostFactorMax = 1e4;
// Sets of documents with different factors that boosts may produce in a segment. They are searched one after
// the other. Each costs a pass over the windows, which pays only while the factors differ much.
inline constexpr size_t kBoostClassesMax = 16;
inline constexpr size_t kBoostPassesMax = 4;

// For a metadata key with at most this many values in a segment, a range tests each value. For a key with
// more values, it searches the ordered values of all its documents.
inline constexpr uint32_t kRangeWalkTermsMax = 256;
// Cached value orders, over all segments and keys: 12 bytes per document and key, so 5 million of them.
// Evicts the least recently used first.
inline constexpr size_t kValueOrderBytesMax = size_t{64} << 20;
inline constexpr size_t kValueOrdersMax = 256;  // searched linearly

// Facets, and histograms, of one aggregation: equals the service's FACETS_MAX.
inline constexpr uint32_t kFacetsMax = 64;
// Buckets of one histogram; the newest are returned. Defined by the contract.
inline constexpr size_t kHistogramBucketsMax = 1000;

// Terms that one FUZZY or WILDCARD leaf expands to; the best are kept. More than any edit distance matches in
// a dictionary of 200 000 terms, and more than most prefixes of three letters match.
inline constexpr uint32_t kLeafExpansionsMax = 1024;
// Expanded terms over all leaves of a plan. Multiplied by the fields, they also stay within kPlanCursorsMax.
inline constexpr uint32_t kPlanExpansionsMax = 2048;
// Dictionary entries that one leaf reads, over all fields and segments: 40 ms. Only a WILDCARD that begins
// with `*` or `?` comes close to it.
inline constexpr uint32_t kExpansionScanMax = uint32_t{1} << 20;
// A section with fewer terms is scanned through its dictionary, which takes less than 0.1 ms. A larger one
// gets signatures in memory (4 bytes per term) at the first search that needs them.
inline constexpr uint32_t kSignatureTermsMin = 4096;
// Edits of a FUZZY leaf: defined by the contract; the width of the automaton's band grows with it.
inline constexpr uint32_t kFuzzyEditsMax = 2;

// Dictionary entries that one autocompletion reads over all fields and segments: defined by the contract.
inline constexpr uint32_t kCompletionScanMax = 10000;
// Prefixes with at most this many entries are scanned in full, which takes 0.1 ms. For prefixes with more
// entries, the most frequent terms are searched for.
inline constexpr uint32_t kCompletionWalkMax = 1024;
// A section with at least this many terms gets the maximum dfs of its runs in memory at the first completion
// that needs them (a third of a byte per term). A smaller one is read in 10 us.
inline constexpr uint32_t kTermMaximaTermsMin = 512;
// Terms of one term frequency request.
inline constexpr size_t kTermFrequenciesMax = 64;
// The contract's limit of 32 characters for a prefix, at most 4 bytes each.
inline constexpr size_t kCompletionPrefixBytesMax = 128;
inline constexpr uint32_t kCompletionsMax = 1000;

// Dictionary entries that one request for near terms reads, over all fields and segments: about 2 ms.
inline constexpr uint32_t kNearTermsScanMax = 20000;
// A word of 32 characters, at most 4 bytes each: longer terms are not words.
inline constexpr size_t kNearTermsWordBytesMax = 128;
inline constexpr uint32_t kNearTermsMax = 256;

// A filter with more values than this is read into a bit set instead of being kept as open cursors.
inline constexpr uint32_t kFilterCursorsMax = 16;

// A metadata list of more than one block with at least 1/kBitSetShareDivisor of its collection's documents is
// also stored as bits: at most 32 bits per posting. A filter on a list without bits reads at most 1/32 of the
// documents.
inline constexpr uint32_t kBitSetShareDivisor = 32;

// Documents that a disjunction scores at once: 2 x 2 048 doubles = 32 KB, which fits the L1 cache.
inline constexpr uint32_t kWindowDocs = 2048;

// Documents per window of pruned search: one float each is 8 KB of sums, a quarter of an L1 cache.
inline constexpr uint32_t kPrunedWindowDocs = 2048;
// With more hits than this, the exhaustive scorer is used: pruning could skip little.
inline constexpr uint32_t kPrunedHitsMax = 1000;
// A disjunction of more terms than this reads its rare terms at once. Queries have fewer words; expansions
// have more terms.
inline constexpr uint32_t kLargeDisjunctionTerms = 24;
// Lists with bounds of one pruned plan in one segment. Above it the exhaustive scorer runs, whose state does
// not grow with the number of windows.
inline constexpr uint32_t kPrunedListsMax = 256;
// Decoded blocks of 2.2 KB: 36 MB during a search, 2.2 MB per thread between searches. One window needs at
// most 256 lists x 18 blocks.
inline constexpr size_t kDecodedBlocksMax = 16384;
inline constexpr size_t kDecodedBlocksKept = 1024;

// Steps of a scan between two polls of the stop word: about 10 us.
inline constexpr uint32_t kStepsPerPoll = 1024;

// Merge policy. A tier contains segments whose live bytes are within a factor of 8. The eighth member
// triggers the merge of the tier. Seven tiers (16 KB to 4 GB) would have 49 segments at worst; above 16
// segments, the smallest are therefore merged regardless of their tier.
inline constexpr uint32_t kTierFactor = 8;
inline constexpr uint64_t kTierFloorBytes = 16 << 10;
inline constexpr uint32_t kSegmentsWanted = 16;
inline constexpr uint32_t kMergeWidthMax = 32;
// Merges up to this size run on the quick lane (about 0.2 s at 150 MB/s). Larger ones run on a separate
// thread, so that new mini-segments never wait for one.
inline constexpr uint64_t kQuickMergeBytesMax = uint64_t{32} << 20;
// Segments above this size are not merged further. Bounds the longest merge and the additional memory that it
// needs.
inline constexpr uint64_t kMergedBytesMax = uint64_t{1} << 30;
// Total size of a forced merge: 32-bit offsets inside a segment are below 4 GiB.
inline constexpr uint64_t kForcedMergeBytesMax = uint64_t{3} << 30;
// Above this many segments, the publishing thread also merges. A snapshot then has at most what two lanes
// merge (2 x 32), the wanted number, and the new segment: a burst of single-document writes never leaves
// more. A forced merge keeps all segments that it found claimed until it commits, in addition to those that
// arrive meanwhile.
inline constexpr uint32_t kSegmentsCrowded = 48;
inline constexpr uint32_t kSegmentsMax = 2 * kMergeWidthMax + kSegmentsWanted + 1;
inline constexpr uint32_t kSegmentsBesideForcedMergeMax = 2 * kSegmentsMax;
// A segment is rewritten if more than a third of its documents are dead.
inline constexpr uint32_t kDeadShareDivisor = 3;

// An index at rest is merged while a segment is not larger than this many times all smaller ones together.
// Afterwards at most a ninth of the index is in the other segments.
inline constexpr uint64_t kRestingShareDivisor = 8;
// Result size of a merge at rest: it is built in memory, which a small idle machine must be able to spare.
inline constexpr uint64_t kRestingMergeBytesMax = uint64_t{256} << 20;

// Overhead of a body in native memory in addition to its bytes. It is counted, so that many small bodies also
// stay within the limits of the total (SHARED_BODIES_KEPT_BYTES_MAX in src/limits/store.ts). Including the
// allocator's overhead: 64 bytes of list node, 48 of table node, 16 of bucket, 48 of shared count and vector,
// 16 of the allocation of the bytes.
inline constexpr uint64_t kSharedBodyOverheadBytes = 192;

// Interval between two checks of retired snapshots that a reader still uses.
inline constexpr uint32_t kRetiredPollMs = 10;

}  // namespace mds
