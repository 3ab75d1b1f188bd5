// Selects the slots of a view that a search may return: live slots of documents that the metadata filter
// admits. Used by one search on one thread. Borrows the view.
#pragma once

#include <cstdint>
#include <vector>

#include "base/stop_signal.h"
#include "vector/set/set_view.h"

namespace mds {

class SlotFilter {
 public:
  // `documents`: docids in any order; null admits all. Incomplete if `stop` is set.
  SlotFilter(const SetView& view, const std::vector<uint32_t>* documents, StopSignal& stop);

  [[nodiscard]] bool passes(uint32_t slot) const noexcept { return has_row(rows(slot / kBlockSlots), slot % kBlockSlots); }
  [[nodiscard]] const BlockBits& rows(uint32_t block) const noexcept { return bits_.empty() ? *view_.blocks[block].live : bits_[block]; }
  [[nodiscard]] uint32_t count() const noexcept { return count_; }

 private:
  const SetView& view_;
  std::vector<BlockBits> bits_;  // empty: the live bits of the view are used
  uint32_t count_;
};

}  // namespace mds
