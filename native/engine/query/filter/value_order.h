// The values of one metadata key in one segment in their order, with their documents: a range over a key of
// many values searches it. Numbers and times are in one order, all values as texts in another. Made when a
// range first needs it, cached within a bound (a segment never changes), and evicted least recently used
// first.
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
  // Indexes in the section, ascending as texts without the white space around them; kText.
  std::vector<uint32_t> terms;
  std::vector<uint32_t> ends;  // per term: where its slots end
  // Per scalar the slot of its document, or those of the terms in turn; a document with several values occurs
  // several times.
  std::vector<uint32_t> slots;

  [[nodiscard]] size_t bytes() const noexcept { return scalars.capacity() * sizeof(double) + (terms.capacity() + ends.capacity() + slots.capacity()) * sizeof(uint32_t); }
};

// Null when it was stopped.
[[nodiscard]] std::shared_ptr<const ValueOrder> make_value_order(const Segment& segment, const SectionEntry& section, ValueKind kind, StopSignal& stop);

// Shared by all searches of an engine; any thread.
class ValueOrderCache {
 public:
  // From the cache, or made and cached. Null when it was stopped.
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
