// The sorted values of one metadata key in one segment, with their documents. A range over a key with many
// values searches them. Numbers and times share one order; all values as text form another. An order is built
// when a range first needs it. It is cached within a bound (a segment never changes) and evicted least
// recently used first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "base/stop_signal.h"
#include "segment/segment.h"

namespace mds {

enum class ValueKind : uint8_t { kScalar, kText };

struct ValueOrder {
  std::vector<double> scalars;  // ascending; kScalar
  // Term indexes, in ascending order of the text without leading and trailing white space; kText.
  std::vector<uint32_t> terms;
  std::vector<uint32_t> ends;  // per term: the end of its slots
  // The slot of each scalar's document, or the slots of each term in turn. A document with several values
  // occurs several times.
  std::vector<uint32_t> slots;

  [[nodiscard]] size_t bytes() const noexcept { return scalars.capacity() * sizeof(double) + (terms.capacity() + ends.capacity() + slots.capacity()) * sizeof(uint32_t); }
};

// Null if it was stopped.
[[nodiscard]] std::shared_ptr<const ValueOrder> make_value_order(const Segment& segment, const SectionEntry& section, ValueKind kind, StopSignal& stop);

// Shared by all searches of an engine; any thread.
class ValueOrderCache {
 public:
  // Returns the cached order, or builds and caches it. Null if it was stopped.
  [[nodiscard]] std::shared_ptr<const ValueOrder> get(const Segment& segment, const SectionEntry& section, ValueKind kind, StopSignal& stop);
  [[nodiscard]] size_t bytes() const noexcept;

 private:
  using Key = std::tuple<uint64_t, uint32_t, ValueKind>;  // serial of the segment, index of the section
  struct Kept {
    Key key;
    std::shared_ptr<const ValueOrder> order;
  };

  mutable std::mutex mutex_;
  std::list<Kept> kept_;  // most recently used first
  size_t bytes_ = 0;
};

}  // namespace mds
