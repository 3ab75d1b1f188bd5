// A vector search request: serialized and parsed. Format: docs/formats/vector-index.md, "Search request".
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
  uint32_t k;           // number of documents
  uint32_t candidates;  // minimum for approximate kinds and MMR: k to ten times k
  double threshold;     // minimum score of a hit
  bool isDiverse;
  double diversity;  // lambda of MMR, 0 to 1; 1: by score alone
  uint32_t pollWord;
  std::vector<float> vector;
  // Minimum number of candidates of a graph search. Not part of the serialized request.
  uint32_t expansion = kGraphExpansionSearch;
  // A search plan. Only its filters and ranges are used. Empty: no filter.
  Bytes filter;
  uint32_t signsRescored = kSignsRescoredPerHit;  // number of candidates from sign codes that are rescored per hit
  uint32_t threads = 1;                           // maximum for a flat search
  uint32_t helpedSlotsMin = kScanHelpedSlotsMin;  // minimum number of slots for more than one thread
};

[[nodiscard]] Result<VectorSearchRequest> parse_vector_request(Bytes bytes);

}  // namespace mds
