// See kmeans.h.
#include "vector/trained/kmeans.h"

#include <algorithm>
#include <limits>
#include <random>

#include "vector/kernels/vector_kernels.h"

namespace mds {
namespace {

// Number of rows whose products with all centres are in memory at the same time: 256 KB for 1 024 centres.
constexpr size_t kRowsPerProduct = 64;

}  // namespace

CentreTable::CentreTable(const FloatRows& centres)
    : dims_(centres.dims),
      count_(centres.count()),
      width_((count_ + matrix::kLaneColumns - 1) / matrix::kLaneColumns * matrix::kLaneColumns),
      columns_(dims_ * width_),
      halves_(width_, std::numeric_limits<float>::max()) {
  for (size_t centre = 0; centre < count_; ++centre) {
    float squares = 0;
    for (size_t column = 0; column < dims_; ++column) {
      const float element = centres.row(centre)[column];
      columns_[column * width_ + centre] = element;
      squares += element * element;
    }
    halves_[centre] = squares / 2;
  }
}

void CentreTable::nearest(MatrixRows rows, size_t count, uint32_t* nearest) const {
  std::vector<float> products(kRowsPerProduct * width_);
  for (size_t begin = 0; begin < count; begin += kRowsPerProduct) {
    const size_t together = std::min(kRowsPerProduct, count - begin);
    vector_kernels().multiply({rows.values + begin * rows.stride, rows.stride}, together, dims_, {columns_.data(), width_}, width_, products.data());
    for (size_t row = 0; row < together; ++row) {
      const float* of = products.data() + row * width_;
      uint32_t best = 0;
      for (uint32_t centre = 1; centre < count_; ++centre) {
        if (of[centre] - halves_[centre] > of[best] - halves_[best]) best = centre;
      }
      nearest[begin + row] = best;
    }
  }
}

void CentreTable::products(const float* row, std::vector<float>& products) const {
  products.resize(width_);
  vector_kernels().multiply({row, dims_}, 1, dims_, {columns_.data(), width_}, width_, products.data());
}

void CentreTable::closeness(const float* row, std::vector<float>& closeness) const {
  products(row, closeness);
  for (size_t centre = 0; centre < width_; ++centre) closeness[centre] -= halves_[centre];
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
  // Without rows the only centre is the origin.
  if (rows.count() == 0) centres.values.resize(columns);
  const size_t count = centres.count();
  std::vector<uint32_t> nearest(rows.count());
  for (uint32_t iteration = 0; iteration < iterations && rows.count() > 0 && !stop.load(std::memory_order_relaxed); ++iteration) {
    CentreTable(centres).nearest({rows.values.data() + columnBegin, rows.dims}, rows.count(), nearest.data());
    std::vector<double> sums(count * columns);
    std::vector<uint32_t> members(count);
    for (size_t index = 0; index < rows.count(); ++index) {
      const float* row = rows.row(index) + columnBegin;
      members[nearest[index]] += 1;
      for (size_t column = 0; column < columns; ++column) sums[nearest[index] * columns + column] += double{row[column]};
    }
    for (size_t centre = 0; centre < count; ++centre) {
      // A centre that is nearest to no row is restarted at a random row.
      const float* other = rows.row(random() % rows.count()) + columnBegin;
      for (size_t column = 0; column < columns; ++column) {
        centres.row(centre)[column] = members[centre] == 0 ? other[column] : static_cast<float>(sums[centre * columns + column] / members[centre]);
      }
    }
  }
  return centres;
}

}  // namespace mds
