// See value_order.h. Few segments and keys have orders, so the cached list is searched linearly.
#include "query/filter/value_order.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>

#include "base/limits.h"
#include "query/filter/ranged_value.h"
#include "segment/postings/posting_cursor.h"

namespace mds {

namespace {

void append_slots(const Segment& segment, const SectionEntry& section, const TermEntry& entry, std::vector<uint32_t>& slots) {
  PostingCursor cursor(segment, section, entry);
  while (cursor.doc() != kEndOfList) {
    const std::span<const uint32_t> block = cursor.block_slots();
    slots.insert(slots.end(), block.begin(), block.end());
    cursor.skip(static_cast<uint32_t>(block.size()));
  }
}

// Returns the indexes 0 to `count` - 1, sorted by the values they refer to.
template <class IsBefore>
std::vector<uint32_t> sorted_indexes(size_t count, IsBefore isBefore) {
  std::vector<uint32_t> indexes(count);
  std::iota(indexes.begin(), indexes.end(), 0);
  // Text is mostly sorted already, because the dictionary is sorted by bytes.
  if (!std::is_sorted(indexes.begin(), indexes.end(), isBefore)) std::sort(indexes.begin(), indexes.end(), isBefore);
  return indexes;
}

std::shared_ptr<const ValueOrder> make_scalar_order(const Segment& segment, const SectionEntry& section, StopSignal& stop) {
  std::vector<double> scalars;
  std::vector<uint32_t> slots;
  for (DictionaryWalk walk = segment.terms(section); walk.next();) {
    if (stop.after(walk.entry().df)) return nullptr;
    const RangedValue value = read_ranged_value(walk.term());
    if (!value.scalar) continue;
    append_slots(segment, section, walk.entry(), slots);
    scalars.resize(slots.size(), *value.scalar);
  }
  auto made = std::make_shared<ValueOrder>();
  made->scalars.reserve(scalars.size());
  made->slots.reserve(scalars.size());
  for (const uint32_t index : sorted_indexes(scalars.size(), [&scalars](uint32_t a, uint32_t b) { return scalars[a] < scalars[b]; })) {
    made->scalars.push_back(scalars[index]);
    made->slots.push_back(slots[index]);
  }
  return made;
}

std::shared_ptr<const ValueOrder> make_text_order(const Segment& segment, const SectionEntry& section, StopSignal& stop) {
  std::vector<std::string> texts;
  texts.reserve(section.termEnd - section.termBegin);
  for (DictionaryWalk walk = segment.terms(section); walk.next();) {
    if (stop.after(1)) return nullptr;
    texts.emplace_back(read_ranged_value(walk.term()).text);
  }
  auto made = std::make_shared<ValueOrder>();
  made->terms = sorted_indexes(texts.size(), [&texts](uint32_t a, uint32_t b) { return compare_utf16(texts[a], texts[b]) < 0; });
  made->ends.reserve(texts.size());
  for (uint32_t& term : made->terms) {
    term += section.termBegin;
    const TermEntry entry = segment.term_entry(term);
    if (stop.after(entry.df)) return nullptr;
    append_slots(segment, section, entry, made->slots);
    made->ends.push_back(static_cast<uint32_t>(made->slots.size()));
  }
  return made;
}

}  // namespace

std::shared_ptr<const ValueOrder> make_value_order(const Segment& segment, const SectionEntry& section, ValueKind kind, StopSignal& stop) {
  return kind == ValueKind::kText ? make_text_order(segment, section, stop) : make_scalar_order(segment, section, stop);
}

std::shared_ptr<const ValueOrder> ValueOrderCache::get(const Segment& segment, const SectionEntry& section, ValueKind kind, StopSignal& stop) {
  const Key key{segment.serial(), segment.section_index(section), kind};
  const auto isWanted = [&key](const Kept& kept) { return kept.key == key; };
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(kept_.begin(), kept_.end(), isWanted);
    if (found != kept_.end()) {
      kept_.splice(kept_.begin(), kept_, found);
      return found->order;
    }
  }
  std::shared_ptr<const ValueOrder> made = make_value_order(segment, section, kind, stop);
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
