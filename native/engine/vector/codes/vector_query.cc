// See vector_query.h.
#include "vector/codes/vector_query.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>

#include "vector/kernels/vector_kernels.h"

namespace mds {
namespace {

int8_t* padded_codes(size_t dims) {
  void* memory = std::aligned_alloc(64, code_stride(dims));
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, code_stride(dims));
  return static_cast<int8_t*>(memory);
}

}  // namespace

VectorQuery::VectorQuery(VectorMetric metric, std::span<const float> vector)
    : metric_(metric), full_(vector), codes_(padded_codes(vector.size())), coded_(encode_vector(vector, codes_.get())) {
  const auto squares = static_cast<double>(vector_kernels().dot_i8(codes_.get(), codes_.get(), vector.size()));
  codedNorm_ = double{coded_.scale} * std::sqrt(squares);
  perNorm_ = coded_.norm > 0 ? 1.0 / double{coded_.norm} : 0;
}

RankFormula VectorQuery::formula(float norm) const noexcept {
  switch (metric_) {
    case VectorMetric::kCosine:
      // The cosine with a vector of zeros is defined as 0.
      return {norm > 0 ? perNorm_ / double{norm} : 0, 0};
    case VectorMetric::kDotProduct:
      return {1, 0};
    case VectorMetric::kEuclidean:
      break;
  }
  // The negated squared distance, without the constant term of the query.
  return {2, -double{norm} * double{norm}};
}

VectorQuery::Scored VectorQuery::score(const float* vector, float norm) const noexcept {
  const double dot = vector_kernels().dot_f32(full_.data(), vector, full_.size());
  const RankFormula formula = this->formula(norm);
  const double rank = formula.factor * dot + formula.offset;
  if (metric_ == VectorMetric::kCosine) return {std::clamp(rank, -1.0, 1.0), rank};
  if (metric_ == VectorMetric::kDotProduct) return {rank, rank};
  // Computed from differences. For close vectors, the difference of large squares would lose all precision.
  double squares = 0;
  for (size_t index = 0; index < full_.size(); ++index) {
    const double off = double{full_[index]} - double{vector[index]};
    squares += off * off;
  }
  return {1.0 / (1.0 + std::sqrt(squares)), rank};
}

}  // namespace mds
