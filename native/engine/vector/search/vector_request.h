// What a vector search asks for, as bytes and parsed: docs/formats/vector-index.md, "Search request".
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "vector/codes/vector_query.h"
#include "vector/vector_limits.h"

namespace mds {

enum class VectorAlgorithm : uint32_t { kFlat = 0, kHnsw = 1, kIvf = 2, kPq = 3, kOpq = 4, kSq = 5, kSq4 = 6, kBq = 7 };

struct VectorSearchRequest {
  uint32_t collection;
  VectorAlgorithm algorithm;
  VectorMetric metric;
  uint32_t k;           // documents
  uint32_t candidates;  // of kinds that may err, and of MMR, at least: k to ten times k
  double threshold;     // no hit scores below
  bool isDiverse;
  double diversity;  // MMR's lambda, 0 to 1: 1 is by score alone
  uint32_t pollWord;
  std::vector<float> vector;
  uint32_t expansion = kGraphExpansionSearch;     // candidates of a graph search at least; not part of the bytes
  Bytes filter;                                   // a search plan of which the filters and ranges count; empty: no filter
  uint32_t signsRescored = kSignsRescoredPerHit;  // candidates of signs that are scored again, for each hit
  uint32_t threads = 1;                           // of a flat search at most
  uint32_t helpedSlotsMin = kScanHelpedSlotsMin;  // more than one from so many slots on
};

[[nodiscard]] Result<VectorSearchRequest> parse_vector_request(Bytes bytes);

}  // namespace mds
