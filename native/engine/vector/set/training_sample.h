// The f32 rows that an index kind is trained on: an even sample of the live vectors of a view, each scaled to
// length 1 and padded with zeros. Pure.
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

// Writes the vector of a slot to `dims` floats, scaled to length 1 (or zeros). The floats after the view's
// dimensions are set to zero.
void unit_vector(const SetView& view, uint32_t slot, float* out, size_t dims) noexcept;

// Returns at most `most` rows of `dims` numbers each. `dims` must be at least the view's dimensions.
[[nodiscard]] FloatRows training_sample(const SetView& view, size_t most, size_t dims);

}  // namespace mds
