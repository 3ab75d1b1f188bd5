// Runs one search in one view of a vector set: chooses the method and assembles the hits. Runs on the
// caller's thread. A long scan also uses helper threads.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/stop_signal.h"
#include "vector/scan/best_documents.h"
#include "vector/scan/scan_helpers.h"
#include "vector/search/vector_request.h"
#include "vector/set/set_view.h"

namespace mds {

struct VectorHits {
  std::vector<VectorCandidate> hits;  // best first; with MMR in the order of choice
  bool isExact = false;               // no better document is missing
  bool isComplete = true;             // false: stopped early
  std::optional<TrainedKind> wanted;  // the kind that the set should be trained for, if it is not trained yet
};

// `documents`: the docids that the filter admits; null: all.
[[nodiscard]] VectorHits search_vectors(const SetView& view, const VectorSearchRequest& request, const std::vector<uint32_t>* documents, ScanHelpers& helpers,
                                        StopSignal& stop);

}  // namespace mds
