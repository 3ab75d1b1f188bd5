// The union of several posting lists of one segment, read window by window: the documents that a metadata
// filter admits, or that an excluded term removes. If the lists are few, they stay packed, and only the
// blocks of requested windows are decoded. If they are many, they are read once into bits over the
// collection. Used by one search on one thread. Valid while the snapshot is referenced.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/limits.h"
#include "base/stop_signal.h"
#include "query/filter/window_grid.h"
#include "segment/postings/posting_list.h"

namespace mds {

class SlotSet {
 public:
  // Reads all postings if there are more than kFilterCursorsMax lists; ends early when `stop` is set.
  SlotSet(const std::vector<PostingList>& lists, const WindowGrid& grid, StopSignal& stop);

  // Upper bound of the number of slots.
  [[nodiscard]] uint64_t cost() const noexcept { return cost_; }
  void add_to(uint32_t window, WindowBits& bits);

 private:
  // One list and its last decoded block, which adjacent windows often share.
  struct Walk {
    PostingList list;
    uint32_t block = UINT32_MAX;
    uint32_t count = 0;
    std::array<uint32_t, kBlockPostings> slots{};
  };
  void load(Walk& walk, uint32_t block) noexcept;

  WindowGrid grid_;
  std::vector<Walk> walks_;
  std::vector<WindowBits> words_;  // per window; empty if there are few lists
  uint64_t cost_ = 0;
};

}  // namespace mds
