// See score_estimate.h. Loops process four floats at a time with the compiler's portable vector extension.
#include "query/pruned/score_estimate.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace mds {
namespace {

using Floats = float __attribute__((vector_size(16)));
using Ints = int32_t __attribute__((vector_size(16)));
using Words = uint32_t __attribute__((vector_size(16)));

constexpr uint32_t kEstimateLanes = 4;

// Factors and weights within these bounds keep every intermediate value of a formula far from the limits of
// float's range. 0 is always exact.
constexpr float kRangeMin = 1e-12F;
constexpr float kRangeMax = 1e12F;

// Upper limit of a bound: sums over the fields of a plan (kPlanFieldsMax) stay finite.
constexpr float kBoundMax = 1e36F;

bool is_in_range(float value) noexcept { return value == 0 || (value >= kRangeMin && value <= kRangeMax); }

template <class To, class From>
To lanes_as(From from) noexcept {
  To to;
  static_assert(sizeof to == sizeof from);
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// Above every count, and below the limit of a conversion to uint32_t.
constexpr float kCountMax = 4e9F;

// Clamps counts: damaged impacts may contain any value, including NaN.
Floats within_counts(Floats value) noexcept {
  const Floats atLeast = value > 1 ? value : Floats{} + 1;
  return atLeast < kCountMax ? atLeast : Floats{} + kCountMax;
}

float largest(Floats value) noexcept { return std::max(std::max(value[0], value[1]), std::max(value[2], value[3])); }

Floats damped(Floats tfs) noexcept {
  Floats out;
  for (uint32_t lane = 0; lane < kEstimateLanes; ++lane) out[lane] = static_cast<float>(damped_tf(static_cast<uint32_t>(tfs[lane])));
  return out;
}

}  // namespace

ScoreEstimate ScoreEstimate::make(EstimateKind kind, const LeafScorer& scorer, size_t field) noexcept {
  const LeafScorer::FieldNorm& norm = scorer.field_norm(field);
  return {kind,
          static_cast<float>(scorer.factor()),
          static_cast<float>(norm.weight),
          static_cast<float>(scorer.k1()),
          static_cast<float>(norm.lengthBase),
          static_cast<float>(norm.lengthSlope)};
}

ScoreEstimate ScoreEstimate::whole(const LeafScorer& scorer, size_t field) noexcept {
  switch (scorer.algorithm()) {
    case Algorithm::kTfidf:
      return make(EstimateKind::kTfidf, scorer, field);
    case Algorithm::kBm25:
      return make(EstimateKind::kBm25, scorer, field);
    case Algorithm::kBm25f:
      break;
  }
  return make(EstimateKind::kFieldsWhole, scorer, field);
}

ScoreEstimate ScoreEstimate::part(const LeafScorer& scorer, size_t field) noexcept { return make(EstimateKind::kFieldTf, scorer, field); }

bool ScoreEstimate::is_safe() const noexcept { return is_in_range(factor_) && is_in_range(weight_) && is_in_range(k1_) && is_in_range(base_) && is_in_range(slope_); }

namespace {

// One struct contains the formulas, so that the bound of a block and the estimates of its postings are
// rounded identically.
struct Formula {
  Floats factor, weight, k1, base, slope;

  [[gnu::always_inline]] [[nodiscard]] inline Floats value(EstimateKind kind, Floats tf, Floats length) const noexcept {
    switch (kind) {
      case EstimateKind::kTfidf:
        return factor * damped(tf) / (base + slope * length);
      case EstimateKind::kBm25:
        return factor * tf / (tf + (base + slope * length));
      case EstimateKind::kFieldTf:
        return weight * tf / (base + slope * length);
      case EstimateKind::kFieldsWhole: {
        const Floats tfSum = weight * tf / (base + slope * length);
        // The constant is far below any non-zero sum (is_safe). With k1 0 and a field of weight 0 the result
        // is 0, as in score_sum.
        return factor * tfSum / (k1 + tfSum + 1e-30F);
      }
      case EstimateKind::kOccurrences:
        break;
    }
    return tf;
  }
};

// Counts are far below 2^31, the limit of the vector conversion. A posting's tf and length are at least 1. A
// smaller length is damaged and would make an estimate NaN.
Floats load_counts(const uint32_t* at) noexcept {
  Ints value;
  std::memcpy(&value, at, sizeof value);
  const Floats counts = __builtin_convertvector(value, Floats);
  return counts > 1 ? counts : Floats{} + 1;
}

template <EstimateKind kKind>
void estimate_all(const Formula& formula, const uint32_t* tfs, const uint32_t* lengths, uint32_t count, float* out) noexcept {
  for (uint32_t at = 0; at < count; at += kEstimateLanes) {
    const Floats value = formula.value(kKind, load_counts(tfs + at), load_counts(lengths + at));
    std::memcpy(out + at, &value, sizeof value);
  }
}

}  // namespace

float ScoreEstimate::bound(const Impacts& impacts) const noexcept {
  const Formula formula{Floats{} + factor_, Floats{} + weight_, Floats{} + k1_, Floats{} + base_, Floats{} + slope_};
  Floats most{};
  for (uint32_t at = 0; at < kImpacts; at += kEstimateLanes) {
    Words words;
    std::memcpy(&words, impacts.data() + at, sizeof words);
    const Floats value = formula.value(kind_, within_counts(lanes_as<Floats>(words & 0xFFFF0000U)), lanes_as<Floats>(words << 16));
    most = value > most ? value : most;
  }
  // Damaged impacts may contain any value. The comparison above skips NaN. Infinity is clamped, because it
  // would produce NaN in the quotient of a sum.
  return std::min(largest(most), kBoundMax);
}

void ScoreEstimate::estimate(const uint32_t* tfs, const uint32_t* lengths, uint32_t count, float* out) const noexcept {
  const Formula formula{Floats{} + factor_, Floats{} + weight_, Floats{} + k1_, Floats{} + base_, Floats{} + slope_};
  switch (kind_) {
    case EstimateKind::kTfidf:
      return estimate_all<EstimateKind::kTfidf>(formula, tfs, lengths, count, out);
    case EstimateKind::kBm25:
      return estimate_all<EstimateKind::kBm25>(formula, tfs, lengths, count, out);
    case EstimateKind::kFieldTf:
      return estimate_all<EstimateKind::kFieldTf>(formula, tfs, lengths, count, out);
    case EstimateKind::kFieldsWhole:
      return estimate_all<EstimateKind::kFieldsWhole>(formula, tfs, lengths, count, out);
    case EstimateKind::kOccurrences:
      return estimate_all<EstimateKind::kOccurrences>(formula, tfs, lengths, count, out);
  }
}

}  // namespace mds
