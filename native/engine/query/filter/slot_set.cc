// See slot_set.h.
#include "query/filter/slot_set.h"

#include <algorithm>

namespace mds {

SlotSet::SlotSet(const std::vector<PostingList>& lists, const WindowGrid& grid, StopSignal& stop) : grid_(grid) {
  for (const PostingList& list : lists) cost_ += list.df();
  if (lists.size() <= kFilterCursorsMax) {
    for (const PostingList& list : lists) walks_.push_back({list});
    return;
  }
  words_.resize(grid.count());
  for (const PostingList& list : lists) {
    if (stop.after(list.df())) return;
    Walk walk{list};
    for (uint32_t block = 0; block < list.block_count(); ++block) {
      load(walk, block);
      for (uint32_t index = 0; index < walk.count; ++index) {
        const uint32_t at = walk.slots[index] - grid.begin(0);
        set_bit(words_[at / kPrunedWindowDocs], at % kPrunedWindowDocs);
      }
    }
  }
}

void SlotSet::load(Walk& walk, uint32_t block) noexcept {
  if (walk.block == block) return;
  PackedBlock packed{};
  walk.block = block;
  walk.count = 0;
  if (walk.list.read(block, packed) && decode_slots(packed, walk.slots.data())) walk.count = packed.count;
}

void SlotSet::add_to(uint32_t window, WindowBits& bits) {
  if (!words_.empty()) {
    for (size_t word = 0; word < bits.size(); ++word) bits[word] |= words_[window][word];
    return;
  }
  const uint32_t begin = grid_.begin(window);
  const uint32_t end = grid_.end(window);
  for (Walk& walk : walks_) {
    for (uint32_t block = walk.list.find_block(0, begin); block < walk.list.block_count(); ++block) {
      load(walk, block);
      const uint32_t* at = std::lower_bound(walk.slots.data(), walk.slots.data() + walk.count, begin);
      const uint32_t* last = walk.slots.data() + walk.count;
      for (; at != last && *at < end; ++at) set_bit(bits, *at - begin);
      if (at != last || block + 1 >= walk.list.block_count()) break;
    }
  }
}

}  // namespace mds
