// Hits that differ from each other: maximal marginal relevance (Carbonell, Goldstein 1998). Runs on the caller's thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/stop_signal.h"
#include "vector/scan/best_documents.h"
#include "vector/set/set_view.h"

namespace mds {

// Of `candidates`, best first, chooses `most` one by one: each the one of the highest lambda x score - (1 - lambda) x its greatest cosine with one that was chosen
// before; the first candidate of those that are equal. In the order of choice; fewer once `stop` is set.
[[nodiscard]] std::vector<VectorCandidate> choose_diverse(const SetView& view, const std::vector<VectorCandidate>& candidates, uint32_t most, double lambda,
                                                          StopSignal& stop);

}  // namespace mds
