// k-means (Lloyd) with a fixed seed: the same rows give the same centres. Pure but for `stop`.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "vector/training_sample.h"

namespace mds {

// `columnBegin`, `columns`: the part of each row that counts. At most `k` centres, fewer where there are fewer rows; what there is when `stop` is set.
[[nodiscard]] FloatRows kmeans(const FloatRows& rows, size_t columnBegin, size_t columns, size_t k, uint32_t iterations, const std::atomic<bool>& stop);

// Index of the nearest centre. `halfSquares`: of each centre, half of its squared length.
[[nodiscard]] uint32_t nearest_centre(const FloatRows& centres, const std::vector<float>& halfSquares, const float* vector) noexcept;
[[nodiscard]] std::vector<float> half_squares(const FloatRows& centres);

}  // namespace mds
