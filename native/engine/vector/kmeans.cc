// See kmeans.h.
#include "vector/kmeans.h"

#include <algorithm>
#include <random>

#include "vector/vector_kernels.h"

namespace mds {
namespace {

// Shorter rows are not worth a call.
constexpr size_t kKernelColumnsMin = 64;

float inner_product(const float* a, const float* b, size_t columns) noexcept {
  if (columns >= kKernelColumnsMin) return static_cast<float>(vector_kernels().dot_f32(a, b, columns));
  float sum = 0;
  for (size_t index = 0; index < columns; ++index) sum += a[index] * b[index];
  return sum;
}

}  // namespace

std::vector<float> half_squares(const FloatRows& centres) {
  std::vector<float> halves;
  for (size_t centre = 0; centre < centres.count(); ++centre) {
    halves.push_back(inner_product(centres.row(centre), centres.row(centre), centres.dims) / 2);
  }
  return halves;
}

uint32_t nearest_centre(const FloatRows& centres, const std::vector<float>& halfSquares, const float* vector) noexcept {
  uint32_t nearest = 0;
  float best = inner_product(centres.row(0), vector, centres.dims) - halfSquares[0];
  for (uint32_t centre = 1; centre < halfSquares.size(); ++centre) {
    const float closeness = inner_product(centres.row(centre), vector, centres.dims) - halfSquares[centre];
    if (closeness > best) {
      best = closeness;
      nearest = centre;
    }
  }
  return nearest;
}

FloatRows kmeans(const FloatRows& rows, size_t columnBegin, size_t columns, size_t k, uint32_t iterations, const std::atomic<bool>& stop) {
  // The same rows give the same centres. NOLINTNEXTLINE(cert-msc32-c,cert-msc51-cpp)
  std::mt19937 random(1);
  FloatRows centres{columns, {}};
  std::vector<size_t> order(rows.count());
  for (size_t index = 0; index < order.size(); ++index) order[index] = index;
  std::shuffle(order.begin(), order.end(), random);
  for (size_t index = 0; index < std::min(k, order.size()); ++index) {
    const float* from = rows.row(order[index]) + columnBegin;
    centres.values.insert(centres.values.end(), from, from + columns);
  }
  const size_t count = centres.count();
  for (uint32_t iteration = 0; iteration < iterations && count > 0 && !stop.load(std::memory_order_relaxed); ++iteration) {
    const std::vector<float> halves = half_squares(centres);
    std::vector<double> sums(count * columns);
    std::vector<uint32_t> members(count);
    for (size_t index = 0; index < rows.count(); ++index) {
      const float* row = rows.row(index) + columnBegin;
      const uint32_t centre = nearest_centre(centres, halves, row);
      members[centre] += 1;
      for (size_t column = 0; column < columns; ++column) sums[centre * columns + column] += double{row[column]};
    }
    for (size_t centre = 0; centre < count; ++centre) {
      // One that nobody is nearest to begins anew at some row.
      const float* other = rows.row(random() % rows.count()) + columnBegin;
      for (size_t column = 0; column < columns; ++column) {
        centres.row(centre)[column] = members[centre] == 0 ? other[column] : static_cast<float>(sums[centre * columns + column] / members[centre]);
      }
    }
  }
  return centres;
}

}  // namespace mds
