// Rows of f32 that a kind of index is trained on: an even draw of the live vectors of a view, each brought to length 1, padded with zeros. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "vector/set/set_view.h"

namespace mds {

struct FloatRows {
  size_t dims = 0;
  std::vector<float> values;

  [[nodiscard]] size_t count() const noexcept { return dims == 0 ? 0 : values.size() / dims; }
  [[nodiscard]] const float* row(size_t index) const noexcept { return values.data() + index * dims; }
  [[nodiscard]] float* row(size_t index) noexcept { return values.data() + index * dims; }
};

// The vector of a slot at length 1 (or zeros), into `dims` floats of which those behind the view's are zero.
void unit_vector(const SetView& view, uint32_t slot, float* out, size_t dims) noexcept;

// At most `most` rows of `dims` numbers, at least those of the view.
[[nodiscard]] FloatRows training_sample(const SetView& view, size_t most, size_t dims);

}  // namespace mds
