// See value_order.h. Few segments and keys are ranged over, so that the list is searched from its front.
#include "query/value_order.h"

#include <algorithm>
#include <numeric>

#include "base/limits.h"
#include "query/ranged_value.h"
#include "segment/posting_cursor.h"

namespace mds {

std::shared_ptr<const ValueOrder> make_value_order(const Segment& segment, const SectionEntry& section, StopSignal& stop) {
  std::vector<double> scalars;
  std::vector<uint32_t> slots;
  for (DictionaryWalk walk = segment.terms(section); walk.next();) {
    if (stop.after(walk.entry().df)) return nullptr;
    const RangedValue value = read_ranged_value(walk.term());
    if (!value.scalar) continue;
    for (PostingCursor cursor(segment, section, walk.entry()); cursor.doc() != kEndOfList; cursor.next()) {
      scalars.push_back(*value.scalar);
      slots.push_back(cursor.doc());
    }
  }
  std::vector<uint32_t> order(scalars.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&scalars](uint32_t a, uint32_t b) { return scalars[a] < scalars[b]; });
  auto made = std::make_shared<ValueOrder>();
  made->scalars.reserve(order.size());
  made->slots.reserve(order.size());
  for (const uint32_t at : order) {
    made->scalars.push_back(scalars[at]);
    made->slots.push_back(slots[at]);
  }
  return made;
}

std::shared_ptr<const ValueOrder> ValueOrderCache::get(const Segment& segment, const SectionEntry& section, StopSignal& stop) {
  const Key key{segment.serial(), segment.section_index(section)};
  const auto isWanted = [&key](const Kept& kept) { return kept.key == key; };
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(kept_.begin(), kept_.end(), isWanted);
    if (found != kept_.end()) {
      kept_.splice(kept_.begin(), kept_, found);
      return found->order;
    }
  }
  std::shared_ptr<const ValueOrder> made = make_value_order(segment, section, stop);
  if (made == nullptr || made->bytes() > kValueOrderBytesMax) return made;
  const std::lock_guard lock(mutex_);
  if (std::any_of(kept_.begin(), kept_.end(), isWanted)) return made;
  kept_.push_front({key, made});
  bytes_ += made->bytes();
  while (bytes_ > kValueOrderBytesMax || kept_.size() > kValueOrdersMax) {
    bytes_ -= kept_.back().order->bytes();
    kept_.pop_back();
  }
  return made;
}

size_t ValueOrderCache::bytes() const noexcept {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace mds
