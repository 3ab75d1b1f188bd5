// A vector search request, as bytes and parsed: docs/formats/vector-index.md, "Search request".
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
  uint32_t candidates;  // minimum for kinds that may err, and for MMR: k to ten times k
  double threshold;     // minimum score of a hit
  bool isDiverse;
  double diversity;  // MMR's lambda, 0 to 1: 1 is by score alone
  uint32_t pollWord;
  std::vector<float> vector;
  // Minimum number of candidates of a graph search; not part of the bytes.
  uint32_t expansion = kGraphExpansionSearch;
  // A search plan; only its filters and ranges are used; empty: no filter.
  Bytes filter;
  uint32_t signsRescored = kSignsRescoredPerHit;  // candidates of signs that are scored again, for each hit
  uint32_t threads = 1;                           // maximum for a flat search
  uint32_t helpedSlotsMin = kScanHelpedSlotsMin;  // number of slots from which more than one is used
};

[[nodiscard]] Result<VectorSearchRequest> parse_vector_request(Bytes bytes);

}  // namespace mds
