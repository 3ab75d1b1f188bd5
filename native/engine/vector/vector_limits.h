// Bounds of the vector engine, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mds {

// The widest embedding on offer has 8 192 numbers. With elements of at most 127, sums of products stay far within 32 bits.
inline constexpr uint32_t kVectorDimsMax = 8192;
// Chunks of one document: a document of 64 MB in chunks of 1 KB.
inline constexpr uint32_t kVectorChunksMax = 65535;
// Slots of one set, dead ones included until a compaction: 32-bit slots with room, 100 GB of f32 at 384 numbers.
inline constexpr uint32_t kVectorSlotsMax = uint32_t{1} << 26;
// One batch, as kBatchBytesMax.
inline constexpr size_t kVectorBatchBytesMax = size_t{1} << 30;

// Slots of a block: what one publication copies at most is a block that is nearly full; a view of a million slots refers to a thousand.
inline constexpr uint32_t kBlockSlots = 1024;
// A set begins with a small block, so that ten thousand collections of some documents stay small; a full one grows by four.
inline constexpr uint32_t kFirstBlockSlots = 16;

// Documents of one answer: the service's topK of 10 000 bounds it, times the highest oversampling.
inline constexpr uint32_t kVectorHitsMax = 100000;
inline constexpr uint32_t kOversampleMax = 10;
// Candidates of which MMR chooses: each choice compares with all, so at most 2 000 x 2 000 / 2 products of 0.1 us.
inline constexpr uint32_t kDiversityCandidatesMax = 2000;

// Candidates of kinds that may err that are scored by their f32 vectors: three a hit where a request does not say more, and so many for few hits.
inline constexpr uint32_t kRescoredPerHit = 3;
inline constexpr uint32_t kRescoredMin = 30;

// Candidates of signs that are scored again for each hit, where a request does not say it, and at most: src/limits.ts has the same.
inline constexpr uint32_t kSignsRescoredPerHit = 10;
inline constexpr uint32_t kSignsRescoredPerHitMax = 1000;

// Threads of one flat search at most, its own included; all searches of an engine share the others. Slots that one of them reads at a time: 30 us of work, so that nobody
// waits long for the last one.
inline constexpr uint32_t kScanThreadsMax = 16;
inline constexpr uint32_t kScanPieceSlots = 1024;
// Slots from which a flat search is helped, where a request does not say it.
inline constexpr uint32_t kScanHelpedSlotsMin = 2048;

// Documents of which all pairs are compared: 32 million products of 20 ns. Of more, each is compared with its nearest ones.
inline constexpr uint32_t kPairsComparedMax = 8192;
inline constexpr uint32_t kSimilarDocumentsMax = 100000;

// Sets of fewer slots have no graph: reading all of them takes less than 50 us.
inline constexpr uint32_t kGraphSlotsMin = 2048;
// A graph is extended when so many slots, or a 64th of the set, are not in it: until then they are read one by one.
inline constexpr uint32_t kGraphTailMin = 2048;
inline constexpr uint32_t kGraphTailShareDivisor = 64;
// Slots added before a graph that is being built is published as it is, or a quarter of what it has.
inline constexpr uint32_t kGraphSliceMin = 16384;
inline constexpr uint32_t kGraphSliceShareDivisor = 4;
// Neighbours of a node (twice as many at the base), candidates looked at when one is added, and when one is searched: decision 0130.
inline constexpr uint32_t kGraphConnectivity = 16;
inline constexpr uint32_t kGraphExpansionAdd = 128;
inline constexpr uint32_t kGraphExpansionSearch = 100;
// More candidates than this are found by reading all slots.
inline constexpr uint32_t kGraphExpansionMax = 4096;
// What a thread keeps of a graph search's memory for the next one: bits of 8 million slots.
inline constexpr size_t kGraphScratchBytesMax = size_t{1} << 20;
// Distances that one candidate of a graph search costs; with it the price of a filtered search is guessed.
inline constexpr uint32_t kGraphStepsPerCandidate = 16;

// Nothing has been written for so long: then tails join their graphs and small rests are stored. Long enough that a stream of writes is not followed step by step.
inline constexpr uint32_t kVectorRestMs = 2000;
// At rest a graph takes in a tail of so many slots: reading fewer takes less than 1 us.
inline constexpr uint32_t kGraphRestTail = 64;
// Slots that are not stored yet are stored at once when they are so many (16 MB at 384 dimensions), at rest when they are a 64th of the set: so that a set has few
// groups, and a start is given few documents again.
inline constexpr uint32_t kStoreSlots = 8192;
inline constexpr uint32_t kStoreRestSlots = 64;
inline constexpr uint32_t kStoreRestShareDivisor = 64;
// A graph is stored again when it has grown by a quarter, at rest by a 64th: a start extends what it finds.
inline constexpr uint32_t kStoreGraphShareDivisor = 4;
// Files of the vector index that a start looks at: two a set. Further ones are removed: what they hold comes back.
inline constexpr size_t kVectorFilesMax = 200000;

// Sets of fewer slots are not trained on: they are read one by one.
inline constexpr uint32_t kTrainedSlotsMin = 2048;
// A trained kind is trained again when the set has grown by a quarter and so many.
inline constexpr uint32_t kTrainedGrowthDivisor = 4;
inline constexpr uint32_t kTrainedGrowthMin = 2048;
// A filter that lets in less than a fourth of a set is answered by reading just those, exactly.
inline constexpr uint32_t kTrainedPassingDivisor = 4;
// Of codes of four bits a part: vectors that the centres are trained on; numbers of a part, of PQ and of the lists of IVF.
inline constexpr uint32_t kTrainingIterations = 10;
inline constexpr uint32_t kProductSample = 8192;
inline constexpr uint32_t kProductColumns = 4;
inline constexpr uint32_t kListColumns = 4;
// Their candidates that are scored by the codes of eight bits: for each hit, at least, and how many times more where documents have several chunks.
inline constexpr uint32_t kRoughPerHit = 20;
inline constexpr uint32_t kRoughMin = 200;
inline constexpr uint32_t kRoughPerDocument = 4;
// Lists of IVF: the square root of the slots times this, within these; vectors that each is trained on; lists that a search reads: decision 0133.
inline constexpr uint32_t kListsPerRoot = 2;
inline constexpr uint32_t kListsMin = 16;
inline constexpr uint32_t kListsMax = 1024;
inline constexpr uint32_t kSamplePerList = 32;
inline constexpr uint32_t kListsProbedMin = 10;
inline constexpr uint32_t kListsProbedDivisor = 4;
// It reads more where those have fewer slots than this, or than this for each candidate: neighbours lie in the more lists the more of them are wanted and the fewer slots
// there are.
inline constexpr uint32_t kListSlotsReadMin = 8192;
inline constexpr uint32_t kListSlotsPerCandidate = 128;
// Of OPQ. A rotation of more numbers would take minutes to train: such vectors are not turned.
inline constexpr uint32_t kRotationDimsMax = 768;
inline constexpr uint32_t kRotationIterations = 4;
inline constexpr uint32_t kPolarIterations = 24;
inline constexpr float kRotationFloor = 1e-3F;

// A set with more than a third of its slots dead, and so many, is written anew.
inline constexpr uint32_t kDeadSlotsShareDivisor = 3;
inline constexpr uint32_t kDeadSlotsMin = 1024;

}  // namespace mds
