// See training_sample.h.
#include "vector/set/training_sample.h"

#include <algorithm>

namespace mds {

void unit_vector(const SetView& view, uint32_t slot, float* out, size_t dims) noexcept {
  const float* full = view.full(slot);
  const float norm = view.coded(slot).norm;
  const float factor = norm > 0 ? 1.0F / norm : 0;
  for (size_t index = 0; index < view.dims; ++index) out[index] = full[index] * factor;
  std::fill(out + view.dims, out + dims, 0.0F);
}

FloatRows training_sample(const SetView& view, size_t most, size_t dims) {
  FloatRows rows{dims, {}};
  const size_t wanted = std::min<size_t>(most, view.liveSlots);
  rows.values.resize(wanted * dims);
  size_t taken = 0;
  size_t passed = 0;
  for (uint32_t slot = 0; slot < view.slots && taken < wanted; ++slot) {
    if (!view.is_live(slot)) continue;
    // Samples the live rows at equal intervals.
    if (passed++ * wanted / view.liveSlots < taken) continue;
    unit_vector(view, slot, rows.row(taken++), dims);
  }
  rows.values.resize(taken * dims);
  return rows;
}

}  // namespace mds
