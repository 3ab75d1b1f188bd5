// Hits that differ from each other: maximal marginal relevance (Carbonell, Goldstein 1998). Runs on the
// caller's thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/stop_signal.h"
#include "vector/scan/best_documents.h"
#include "vector/set/set_view.h"

namespace mds {

// Chooses `most` of `candidates`, best first, one by one: each the one with the highest lambda x score - (1 -
// lambda) x its greatest cosine with a candidate chosen before; of equal ones the first. In the order of
// choice; fewer once `stop` is set.
[[nodiscard]] std::vector<VectorCandidate> choose_diverse(const SetView& view, const std::vector<VectorCandidate>& candidates, uint32_t most, double lambda,
                                                          StopSignal& stop);

}  // namespace mds
