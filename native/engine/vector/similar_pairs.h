// Pairs of documents whose first chunks are alike: candidates for duplicates. Runs on the caller's thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/stop_signal.h"
#include "vector/set_view.h"

namespace mds {

struct SimilarPair {
  uint32_t first;  // docid, the smaller one
  uint32_t second;
  double score;  // cosine
};

struct SimilarPairs {
  std::vector<SimilarPair> pairs;  // by first, then second docid
  uint32_t documents = 0;          // looked at
  bool isComplete = true;          // false: stopped, or more pairs than may be told
};

// Pairs of cosine `threshold` (0 to 1) or more among the `documentsMax` documents of the smallest docids. Of few documents all pairs are compared; of more, each with its
// nearest ones by the graph, where there is one: a pair is then missed seldom.
[[nodiscard]] SimilarPairs similar_pairs(const SetView& view, double threshold, uint32_t documentsMax, StopSignal& stop);

}  // namespace mds
