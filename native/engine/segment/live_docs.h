// The live bits of a segment: which of its slots are alive. Immutable once published. A publish that kills
// documents copies the bits, so that readers of older snapshots keep theirs.
// A segment without dead documents has no LiveDocs.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace mds {

class LiveDocs {
 public:
  explicit LiveDocs(uint32_t slots) : slots_(slots), words_((size_t{slots} + 63) / 64, ~uint64_t{0}) {
    if (slots % 64 != 0) words_.back() = (uint64_t{1} << (slots % 64)) - 1;
  }

  // From stored words; bits behind the last slot are cleared.
  LiveDocs(uint32_t slots, std::vector<uint64_t> words) : slots_(slots), words_(std::move(words)) {
    if (slots % 64 != 0) words_.back() &= (uint64_t{1} << (slots % 64)) - 1;
    dead_ = slots;
    for (const uint64_t word : words_) dead_ -= static_cast<uint32_t>(std::popcount(word));
  }

  [[nodiscard]] bool alive(uint32_t slot) const noexcept { return (words_[slot / 64] >> (slot % 64) & 1) != 0; }
  [[nodiscard]] uint32_t dead_count() const noexcept { return dead_; }
  [[nodiscard]] uint32_t live_count() const noexcept { return slots_ - dead_; }
  [[nodiscard]] const std::vector<uint64_t>& words() const noexcept { return words_; }

  // May be called only before publication, by the thread that made the copy.
  void kill(uint32_t slot) noexcept {
    const uint64_t bit = uint64_t{1} << (slot % 64);
    if ((words_[slot / 64] & bit) == 0) return;
    words_[slot / 64] &= ~bit;
    ++dead_;
  }

  [[nodiscard]] uint32_t live_in(uint32_t begin, uint32_t end) const noexcept {
    uint32_t count = 0;
    while (begin < end) {
      const uint32_t bit = begin % 64;
      const uint32_t wanted = end - begin < 64 - bit ? end - begin : 64 - bit;
      const uint64_t mask = wanted == 64 ? ~uint64_t{0} : ((uint64_t{1} << wanted) - 1) << bit;
      count += static_cast<uint32_t>(std::popcount(words_[begin / 64] & mask));
      begin += wanted;
    }
    return count;
  }

  [[nodiscard]] uint64_t memory_bytes() const noexcept { return words_.capacity() * sizeof(uint64_t); }

 private:
  uint32_t slots_;
  uint32_t dead_ = 0;
  std::vector<uint64_t> words_;
};

}  // namespace mds
