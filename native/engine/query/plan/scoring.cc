// See scoring.h.
#include "query/plan/scoring.h"

#include <array>
#include <cmath>

namespace mds {
namespace {

// tfs below this, 99.9 % of postings, are looked up in a table.
constexpr uint32_t kDampedTfs = 256;

std::array<double, kDampedTfs> make_damped_tfs() noexcept {
  std::array<double, kDampedTfs> table{};
  for (uint32_t tf = 1; tf < kDampedTfs; ++tf) table[tf] = 1 + std::log(tf);
  return table;
}

const std::array<double, kDampedTfs> kDampedTfTable = make_damped_tfs();

}  // namespace

double inverse_document_frequency(Algorithm algorithm, uint64_t documents, uint64_t df) noexcept {
  if (df == 0) return 0;
  const auto n = static_cast<double>(documents);
  const auto d = static_cast<double>(df);
  return algorithm == Algorithm::kTfidf ? std::log(1 + n / d) : std::log((n - d + 0.5) / (d + 0.5) + 1);
}

double damped_tf(uint32_t tf) noexcept { return tf < kDampedTfs ? kDampedTfTable[tf] : 1 + std::log(tf); }

LeafScorer::LeafScorer(const SearchPlan& plan, const std::vector<double>& averageLengths, double idf, double weight)
    : algorithm_(plan.algorithm), factor_(weight * idf), k1_(plan.k1) {
  if (algorithm_ == Algorithm::kBm25) factor_ *= plan.k1 + 1;
  for (size_t field = 0; field < plan.fields.size(); ++field) {
    const double average = averageLengths[field];
    switch (algorithm_) {
      case Algorithm::kTfidf:
        fields_.push_back({1, 1 - kTfidfSlope, kTfidfSlope / average});
        break;
      case Algorithm::kBm25:
        fields_.push_back({1, plan.k1 * (1 - plan.b), plan.k1 * plan.b / average});
        break;
      case Algorithm::kBm25f:
        fields_.push_back({plan.fields[field].weight, 1 - plan.b, plan.b / average});
        break;
    }
  }
}

}  // namespace mds
