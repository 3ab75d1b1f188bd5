// Limits of the vector engine, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mds {

// The widest embedding in use has 8 192 dimensions. With codes of at most 127, sums of products stay far
// within 32 bits.
inline constexpr uint32_t kVectorDimsMax = 8192;
// Maximum number of chunks of one document: a document of 64 MB in chunks of 1 KB.
inline constexpr uint32_t kVectorChunksMax = 65535;
// Maximum number of slots of one set, including dead slots until a compaction. Slot numbers fit 32 bits with
// a margin; 100 GB of f32 at 384 dimensions.
inline constexpr uint32_t kVectorSlotsMax = uint32_t{1} << 26;
// Maximum size of one batch, the same as kBatchBytesMax.
inline constexpr size_t kVectorBatchBytesMax = size_t{1} << 30;

// Number of slots per block. One publication copies at most one almost full block. A view of a million slots
// refers to a thousand blocks.
inline constexpr uint32_t kBlockSlots = 1024;
// The first block of a set is small, so that ten thousand collections with a few documents each stay small. A
// full small block grows fourfold.
inline constexpr uint32_t kFirstBlockSlots = 16;

// Maximum number of documents in one result: the service's maximum topK of 10 000 times the maximum
// oversampling.
inline constexpr uint32_t kVectorHitsMax = 100000;
inline constexpr uint32_t kOversampleMax = 10;
// Maximum number of candidates that MMR chooses from. Each choice is compared with all candidates: at most 2
// 000 x 2 000 / 2 products of 0.1 us.
inline constexpr uint32_t kDiversityCandidatesMax = 2000;

// Number of candidates of approximate kinds that are scored by their f32 vectors: three per hit unless the
// request sets more, and a minimum for few hits.
inline constexpr uint32_t kRescoredPerHit = 3;
inline constexpr uint32_t kRescoredMin = 30;

// Number of candidates from sign codes that are rescored per hit: default and maximum. The same values as
// BQ_RERANK_FACTOR_DEFAULT in src/limits/search.ts and BQ_RERANK_FACTOR_MAX in
// src/config/options/vector_options.ts.
inline constexpr uint32_t kSignsRescoredPerHit = 10;
inline constexpr uint32_t kSignsRescoredPerHitMax = 1000;

// Maximum number of threads of one flat search, including its own. All searches of an engine share the helper
// threads. The second constant is the number of slots that a thread reads at a time: 30 us of work, so that
// the last piece delays the search only slightly.
inline constexpr uint32_t kScanThreadsMax = 16;
inline constexpr uint32_t kScanPieceSlots = 1024;
// Default minimum number of slots for which a flat search uses helper threads.
inline constexpr uint32_t kScanHelpedSlotsMin = 2048;

// Maximum number of documents for which all pairs are compared: 32 million products of 20 ns. With more
// documents each one is compared with its nearest neighbours.
inline constexpr uint32_t kPairsComparedMax = 8192;
inline constexpr uint32_t kSimilarDocumentsMax = 100000;

// Smaller sets have no graph. A scan of all their slots takes less than 50 us.
inline constexpr uint32_t kGraphSlotsMin = 2048;
// A graph is extended when at least this many slots, or a 64th of the set, are missing in it. Until then
// searches scan the missing slots.
inline constexpr uint32_t kGraphTailMin = 2048;
inline constexpr uint32_t kGraphTailShareDivisor = 64;
// A growing graph is published each time this many slots, or a quarter of its current slots, have been added.
inline constexpr uint32_t kGraphSliceMin = 16384;
inline constexpr uint32_t kGraphSliceShareDivisor = 4;
// Number of neighbours per node (twice as many at the base level), and number of candidates when a node is
// added and in a search: decision 0133.
inline constexpr uint32_t kGraphConnectivity = 16;
inline constexpr uint32_t kGraphExpansionAdd = 128;
inline constexpr uint32_t kGraphExpansionSearch = 100;
// Searches for more candidates scan all slots.
inline constexpr uint32_t kGraphExpansionMax = 4096;
// Maximum memory of a graph search that a thread keeps for its next search: one bit each for 8 million slots.
inline constexpr size_t kGraphScratchBytesMax = size_t{1} << 20;
// Estimated number of distances per candidate of a graph search. Used to estimate the cost of a filtered
// search.
inline constexpr uint32_t kGraphStepsPerCandidate = 16;

// A set is at rest after no writes for this time. Tails are then added to their graphs, and small tails are
// stored. The time is long enough that a stream of writes does not cause one step per write.
inline constexpr uint32_t kVectorRestMs = 2000;
// At rest a graph is extended by a tail of at least this many slots. A scan of fewer slots takes less than 1
// us.
inline constexpr uint32_t kGraphRestTail = 64;
// Unstored slots are stored immediately when there are this many (16 MB at 384 dimensions), and at rest when
// they are a 64th of the set. A set then has few groups, and few documents must be added again after a start.
inline constexpr uint32_t kStoreSlots = 8192;
inline constexpr uint32_t kStoreRestSlots = 64;
inline constexpr uint32_t kStoreRestShareDivisor = 64;
// A graph is stored again when it has grown by a quarter, and at rest by a 64th. A start extends the stored
// graph.
inline constexpr uint32_t kStoreGraphShareDivisor = 4;
// Maximum number of vector index files that a start reads, with two files per set. Additional files are
// removed, and their content is added again.
inline constexpr size_t kVectorFilesMax = 200000;

// Smaller sets are not trained. Searches scan their slots.
inline constexpr uint32_t kTrainedSlotsMin = 2048;
// A trained index is trained again when the set has grown by a quarter and by at least this many slots.
inline constexpr uint32_t kTrainedGrowthDivisor = 4;
inline constexpr uint32_t kTrainedGrowthMin = 2048;
// If a filter admits less than a fourth of a set, the search scans exactly the admitted slots.
inline constexpr uint32_t kTrainedPassingDivisor = 4;
// For codes of four bits per part: the number of k-means iterations, the number of vectors that the centres
// are trained on, and the number of dimensions per part, for PQ and for the lists of IVF.
inline constexpr uint32_t kTrainingIterations = 10;
inline constexpr uint32_t kProductSample = 8192;
inline constexpr uint32_t kProductColumns = 4;
inline constexpr uint32_t kListColumns = 4;
// Number of candidates that are scored by eight-bit codes: per hit, the minimum, and the factor if documents
// have several chunks.
inline constexpr uint32_t kRoughPerHit = 20;
inline constexpr uint32_t kRoughMin = 200;
inline constexpr uint32_t kRoughPerDocument = 4;
// Number of IVF lists: the square root of the number of slots times this factor, within these limits. The
// other constants are the number of training vectors per list and the number of lists that a search reads:
// decision 0133.
inline constexpr uint32_t kListsPerRoot = 2;
inline constexpr uint32_t kListsMin = 16;
inline constexpr uint32_t kListsMax = 1024;
inline constexpr uint32_t kSamplePerList = 32;
inline constexpr uint32_t kListsProbedMin = 10;
inline constexpr uint32_t kListsProbedDivisor = 4;
// A search reads more lists if those have fewer slots than this number, or than this number per candidate.
// The more neighbours are wanted and the fewer slots there are, the more lists contain neighbours.
inline constexpr uint32_t kListSlotsReadMin = 8192;
inline constexpr uint32_t kListSlotsPerCandidate = 128;
// For OPQ. A rotation with more dimensions would take minutes to train. Such vectors are not rotated.
inline constexpr uint32_t kRotationDimsMax = 768;
inline constexpr uint32_t kRotationIterations = 4;
inline constexpr uint32_t kPolarIterations = 24;
inline constexpr float kRotationFloor = 1e-3F;

// A set is rewritten when more than a third of its slots, and at least this many, are dead.
inline constexpr uint32_t kDeadSlotsShareDivisor = 3;
inline constexpr uint32_t kDeadSlotsMin = 1024;

}  // namespace mds
