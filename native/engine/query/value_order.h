// The numbers and times of one metadata key in one segment, ascending, each with its document: what a range over a key of many values searches. Made when a range first
// asks for it, kept while there is room (a segment never changes), and dropped when others were asked for since.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/stop_signal.h"
#include "segment/segment.h"

namespace mds {

struct ValueOrder {
  std::vector<double> scalars;  // ascending
  std::vector<uint32_t> slots;  // of the document with scalars[i]; one with several values is there several times

  [[nodiscard]] size_t bytes() const noexcept { return scalars.capacity() * sizeof(double) + slots.capacity() * sizeof(uint32_t); }
};

// Null when it was stopped.
[[nodiscard]] std::shared_ptr<const ValueOrder> make_value_order(const Segment& segment, const SectionEntry& section, StopSignal& stop);

// Shared by all searches of an engine; any thread.
class ValueOrderCache {
 public:
  // Of the cache, or made and kept. Null when it was stopped.
  [[nodiscard]] std::shared_ptr<const ValueOrder> get(const Segment& segment, const SectionEntry& section, StopSignal& stop);
  [[nodiscard]] size_t bytes() const noexcept;

 private:
  using Key = std::pair<uint64_t, uint32_t>;  // serial of the segment, index of the section
  struct Kept {
    Key key;
    std::shared_ptr<const ValueOrder> order;
  };

  mutable std::mutex mutex_;
  std::list<Kept> kept_;  // asked for last in front
  size_t bytes_ = 0;
};

}  // namespace mds
