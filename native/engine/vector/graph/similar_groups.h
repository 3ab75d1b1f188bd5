// Groups of documents with similar first chunks: candidates for duplicates. Runs on the caller's thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/stop_signal.h"
#include "vector/set/set_view.h"

namespace mds {

struct SimilarDocument {
  uint32_t docid;
  uint32_t group;     // the smallest docid of its group
  double score;       // cosine: the best of its pairs
  double groupScore;  // the mean of its group's pairs that were found
};

struct SimilarGroups {
  std::vector<SimilarDocument> documents;  // by docid
  uint32_t looked = 0;
  bool isComplete = true;  // false: stopped
};

// Pairs of cosine `threshold` (-1 to 1) or more among the documents up to `docidMax` (at most the first
// kSimilarDocumentsMax of them), joined into groups. For few documents all pairs are compared; for more, each
// with its nearest neighbours from the graph, if there is one: then few pairs are missed.
[[nodiscard]] SimilarGroups similar_groups(const SetView& view, double threshold, uint32_t docidMax, StopSignal& stop);

}  // namespace mds
