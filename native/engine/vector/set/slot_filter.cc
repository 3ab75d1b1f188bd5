// See slot_filter.h.
#include "vector/set/slot_filter.h"

#include <bit>

namespace mds {

SlotFilter::SlotFilter(const SetView& view, const std::vector<uint32_t>* documents, StopSignal& stop) : view_(view), count_(view.liveSlots) {
  if (documents == nullptr) return;
  count_ = 0;
  std::vector<bool> isIn(view.docidEnd);
  for (const uint32_t docid : *documents) {
    if (docid < view.docidEnd) isIn[docid] = true;
  }
  bits_.resize(view.blocks.size());
  for (size_t block = 0; block < view.blocks.size() && !stop.after(kBlockSlots / 4); ++block) {
    const BlockRef& from = view.blocks[block];
    for (size_t word = 0; word < from.live->size(); ++word) {
      for (uint64_t left = (*from.live)[word]; left != 0; left &= left - 1) {
        const uint32_t row = static_cast<uint32_t>(word * 64) + static_cast<uint32_t>(std::countr_zero(left));
        if (!isIn[from.codes->identity(row).docid]) continue;
        set_row(bits_[block], row);
        count_ += 1;
      }
    }
  }
}

}  // namespace mds
