// See diversity.h.
#include "vector/search/diversity.h"

#include <algorithm>
#include <limits>

#include "vector/kernels/vector_kernels.h"

namespace mds {
namespace {

double cosine(const SetView& view, uint32_t a, uint32_t b) noexcept {
  const double norms = double{view.coded(a).norm} * double{view.coded(b).norm};
  return norms > 0 ? vector_kernels().dot_f32(view.full(a), view.full(b), view.dims) / norms : 0;
}

}  // namespace

std::vector<VectorCandidate> choose_diverse(const SetView& view, const std::vector<VectorCandidate>& candidates, uint32_t most, double lambda, StopSignal& stop) {
  std::vector<VectorCandidate> chosen;
  std::vector<double> nearest(candidates.size(), 0);  // greatest cosine with a chosen candidate
  std::vector<bool> isChosen(candidates.size());
  while (chosen.size() < std::min<size_t>(most, candidates.size()) && !stop.poll()) {
    size_t best = candidates.size();
    double highest = -std::numeric_limits<double>::infinity();
    for (size_t index = 0; index < candidates.size(); ++index) {
      const double value = lambda * candidates[index].score - (1 - lambda) * nearest[index];
      if (isChosen[index] || value <= highest) continue;
      highest = value;
      best = index;
    }
    isChosen[best] = true;
    const bool isFirst = chosen.empty();
    chosen.push_back(candidates[best]);
    for (size_t index = 0; index < candidates.size(); ++index) {
      if (isChosen[index]) continue;
      const double other = cosine(view, candidates[best].slot, candidates[index].slot);
      nearest[index] = isFirst ? other : std::max(nearest[index], other);
    }
  }
  return chosen;
}

}  // namespace mds
