// Groups of documents with similar first chunks: candidates for duplicates. Runs on the caller's thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/stop_signal.h"
#include "vector/set/set_view.h"

namespace mds {

struct SimilarDocument {
  uint32_t docid;
  uint32_t group;     // the smallest docid of the group
  double score;       // cosine: the best of the document's pairs
  double groupScore;  // the mean of the pairs found in the group
};

struct SimilarGroups {
  std::vector<SimilarDocument> documents;  // sorted by docid
  uint32_t looked = 0;
  bool isComplete = true;  // false: stopped early
};

// Finds pairs with a cosine of at least `threshold` (-1 to 1) among the documents up to `docidMax` (at most
// the first kSimilarDocumentsMax of them) and joins the pairs into groups. For few documents all pairs are
// compared. For more documents each one is compared with its nearest neighbours from the graph, if there is
// one; few pairs are missed then.
[[nodiscard]] SimilarGroups similar_groups(const SetView& view, double threshold, uint32_t docidMax, StopSignal& stop);

}  // namespace mds
