// Bounds of the vector engine, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mds {

// The widest embedding in use has 8 192 numbers. With elements of at most 127, sums of products stay far
// within 32 bits.
inline constexpr uint32_t kVectorDimsMax = 8192;
// Chunks of one document: a document of 64 MB in chunks of 1 KB.
inline constexpr uint32_t kVectorChunksMax = 65535;
// Slots of one set, dead ones included until a compaction: 32-bit slots with a margin, 100 GB of f32 at 384
// numbers.
inline constexpr uint32_t kVectorSlotsMax = uint32_t{1} << 26;
// One batch, as kBatchBytesMax.
inline constexpr size_t kVectorBatchBytesMax = size_t{1} << 30;

// Slots of a block: one publication copies at most a block that is nearly full; a view of a million slots
// refers to a thousand.
inline constexpr uint32_t kBlockSlots = 1024;
// A set begins with a small block, so that ten thousand collections of a few documents stay small; a full one
// grows fourfold.
inline constexpr uint32_t kFirstBlockSlots = 16;

// Documents of one answer: the service's topK of 10 000 bounds it, times the highest oversampling.
inline constexpr uint32_t kVectorHitsMax = 100000;
inline constexpr uint32_t kOversampleMax = 10;
// Candidates that MMR chooses from: each choice compares with all, so at most 2 000 x 2 000 / 2 products of
// 0.1 us.
inline constexpr uint32_t kDiversityCandidatesMax = 2000;

// Candidates of kinds that may err that are scored by their f32 vectors: three for each hit unless the
// request says more, and a minimum for few hits.
inline constexpr uint32_t kRescoredPerHit = 3;
inline constexpr uint32_t kRescoredMin = 30;

// Candidates of signs that are scored again for each hit, by default and at most: as in
// src/limits/vectors.ts.
inline constexpr uint32_t kSignsRescoredPerHit = 10;
inline constexpr uint32_t kSignsRescoredPerHitMax = 1000;

// Threads of one flat search at most, its own included; all searches of an engine share the helpers. Slots
// that a thread reads at a time: 30 us of work, so that the last piece delays the search little.
inline constexpr uint32_t kScanThreadsMax = 16;
inline constexpr uint32_t kScanPieceSlots = 1024;
// Slots from which a flat search gets helpers, by default.
inline constexpr uint32_t kScanHelpedSlotsMin = 2048;

// Number of documents up to which all pairs are compared: 32 million products of 20 ns. With more, each is
// compared with its nearest ones.
inline constexpr uint32_t kPairsComparedMax = 8192;
inline constexpr uint32_t kSimilarDocumentsMax = 100000;

// Sets of fewer slots have no graph: reading all of them takes less than 50 us.
inline constexpr uint32_t kGraphSlotsMin = 2048;
// A graph is extended when this many slots, or a 64th of the set, are not in it: until then they are read one
// by one.
inline constexpr uint32_t kGraphTailMin = 2048;
inline constexpr uint32_t kGraphTailShareDivisor = 64;
// Slots added before a growing graph is published, or a quarter of its present slots.
inline constexpr uint32_t kGraphSliceMin = 16384;
inline constexpr uint32_t kGraphSliceShareDivisor = 4;
// Neighbours of a node (twice as many at the base), candidates when a node is added, and in a search:
// decision 0130.
inline constexpr uint32_t kGraphConnectivity = 16;
inline constexpr uint32_t kGraphExpansionAdd = 128;
inline constexpr uint32_t kGraphExpansionSearch = 100;
// Searches for more candidates than this read all slots.
inline constexpr uint32_t kGraphExpansionMax = 4096;
// Memory of a graph search that a thread keeps for the next one: bits of 8 million slots.
inline constexpr size_t kGraphScratchBytesMax = size_t{1} << 20;
// Distances that one candidate of a graph search costs, to estimate the cost of a filtered search.
inline constexpr uint32_t kGraphStepsPerCandidate = 16;

// At rest means no writes for this long: then tails join their graphs and small tails are stored. Long enough
// that a stream of writes does not cause a step for each.
inline constexpr uint32_t kVectorRestMs = 2000;
// At rest a graph takes in a tail of at least this many slots: reading fewer takes less than 1 us.
inline constexpr uint32_t kGraphRestTail = 64;
// Slots that are not stored yet are stored at once when there are this many (16 MB at 384 dimensions), at
// rest when they are a 64th of the set: so that a set has few groups, and few documents are added again after
// a start.
inline constexpr uint32_t kStoreSlots = 8192;
inline constexpr uint32_t kStoreRestSlots = 64;
inline constexpr uint32_t kStoreRestShareDivisor = 64;
// A graph is stored again when it has grown by a quarter, at rest by a 64th: a start extends the stored
// graph.
inline constexpr uint32_t kStoreGraphShareDivisor = 4;
// Files of the vector index that a start reads: two for each set. Further ones are removed: their content is
// added again.
inline constexpr size_t kVectorFilesMax = 200000;

// Sets of fewer slots are not trained: they are read slot by slot.
inline constexpr uint32_t kTrainedSlotsMin = 2048;
// A trained kind is trained again when the set has grown by a quarter and by this many slots.
inline constexpr uint32_t kTrainedGrowthDivisor = 4;
inline constexpr uint32_t kTrainedGrowthMin = 2048;
// A filter that admits less than a fourth of a set is answered by reading exactly its slots.
inline constexpr uint32_t kTrainedPassingDivisor = 4;
// For codes of four bits a part: iterations of k-means, and vectors that the centres are trained on; numbers
// of a part, for PQ and for the lists of IVF.
inline constexpr uint32_t kTrainingIterations = 10;
inline constexpr uint32_t kProductSample = 8192;
inline constexpr uint32_t kProductColumns = 4;
inline constexpr uint32_t kListColumns = 4;
// Candidates that are scored by the codes of eight bits: for each hit, at least, and the factor where
// documents have several chunks.
inline constexpr uint32_t kRoughPerHit = 20;
inline constexpr uint32_t kRoughMin = 200;
inline constexpr uint32_t kRoughPerDocument = 4;
// Lists of IVF: the square root of the slots times this, within these bounds; vectors that each is trained
// on; lists that a search reads: decision 0133.
inline constexpr uint32_t kListsPerRoot = 2;
inline constexpr uint32_t kListsMin = 16;
inline constexpr uint32_t kListsMax = 1024;
inline constexpr uint32_t kSamplePerList = 32;
inline constexpr uint32_t kListsProbedMin = 10;
inline constexpr uint32_t kListsProbedDivisor = 4;
// A search reads more lists where those have fewer slots than this, or than this for each candidate: the more
// neighbours are wanted and the fewer slots there are, the more lists they are spread over.
inline constexpr uint32_t kListSlotsReadMin = 8192;
inline constexpr uint32_t kListSlotsPerCandidate = 128;
// For OPQ. A rotation of more numbers would take minutes to train: such vectors are not rotated.
inline constexpr uint32_t kRotationDimsMax = 768;
inline constexpr uint32_t kRotationIterations = 4;
inline constexpr uint32_t kPolarIterations = 24;
inline constexpr float kRotationFloor = 1e-3F;

// A set with more than a third of its slots dead, and at least this many, is rewritten.
inline constexpr uint32_t kDeadSlotsShareDivisor = 3;
inline constexpr uint32_t kDeadSlotsMin = 1024;

}  // namespace mds
