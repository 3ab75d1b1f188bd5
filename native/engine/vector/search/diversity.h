// Selects hits that differ from each other: maximal marginal relevance (Carbonell, Goldstein 1998). Runs on
// the caller's thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/stop_signal.h"
#include "vector/scan/best_documents.h"
#include "vector/set/set_view.h"

namespace mds {

// Chooses `most` of `candidates` one by one. Each step chooses the candidate with the highest lambda x score
// - (1 - lambda) x (its greatest cosine with a candidate chosen before); of equal ones the first. Returns
// them in the order of choice; fewer if `stop` is set. `candidates` are sorted best first.
[[nodiscard]] std::vector<VectorCandidate> choose_diverse(const SetView& view, const std::vector<VectorCandidate>& candidates, uint32_t most, double lambda,
                                                          StopSignal& stop);

}  // namespace mds
