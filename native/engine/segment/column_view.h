// One column of a segment. The interface is the same for a column in memory (one array) and a column of a
// stored segment (elements in mapped chunks: element i is in chunk (shift + i) / perChunk). An element never
// straddles a chunk. Copied by value; valid as long as the segment. In memory the caller guarantees that the
// index is in range. In chunks, whose bytes come from disk, an index past the end yields a zero element.
// Layout: docs/formats/segment.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/limits.h"

namespace mds {

template <class T>
class ColumnView {
 public:
  static constexpr size_t kPerChunk = kChunkBytes / sizeof(T);

  ColumnView() noexcept = default;
  explicit ColumnView(std::span<const T> flat) noexcept : flat_(flat.data()), size_(flat.size()) {}
  // `chunks`: the first byte of each chunk, beginning with the chunk of element 0. `shift`: number of
  // elements of this size that would fit before element 0 in that chunk.
  ColumnView(const uint8_t* const* chunks, size_t shift, size_t size) noexcept : chunks_(chunks), shift_(shift), size_(size) {}

  [[nodiscard]] size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  [[nodiscard]] const T& operator[](size_t index) const noexcept { return flat_ != nullptr ? flat_[index] : mapped_at(index); }

  // Returns the contiguous elements from `index` on, at least one if `index` is in range. kPackedPadding
  // bytes behind them are readable.
  [[nodiscard]] std::span<const T> run_at(size_t index) const noexcept {
    if (index >= size_) return {};
    if (flat_ != nullptr) return {flat_ + index, size_ - index};
    const size_t at = shift_ + index;
    return {reinterpret_cast<const T*>(chunks_[at / kPerChunk]) + at % kPerChunk, std::min(size_ - index, kPerChunk - at % kPerChunk)};
  }

  // Returns [begin, begin + count), truncated at the end of the column.
  [[nodiscard]] ColumnView subview(size_t begin, size_t count) const noexcept {
    ColumnView part = *this;
    begin = std::min(begin, size_);
    part.size_ = std::min(count, size_ - begin);
    if (flat_ != nullptr) {
      part.flat_ = flat_ + begin;
    } else {
      part.shift_ = shift_ + begin;
    }
    return part;
  }

  [[nodiscard]] std::vector<T> copy() const {
    std::vector<T> elements;
    elements.reserve(size_);
    for (std::span<const T> run = run_at(0); !run.empty(); run = run_at(elements.size())) elements.insert(elements.end(), run.begin(), run.end());
    return elements;
  }

 private:
  static constexpr T kNone{};

  [[nodiscard]] const T& mapped_at(size_t index) const noexcept {
    if (index >= size_) return kNone;
    const size_t at = shift_ + index;
    return reinterpret_cast<const T*>(chunks_[at / kPerChunk])[at % kPerChunk];
  }

  const T* flat_ = nullptr;
  const uint8_t* const* chunks_ = nullptr;
  size_t shift_ = 0;
  size_t size_ = 0;
};

// Returns bytes [begin, end) of a column as one run: in place if they are in one chunk, else copied to
// `scratch`. Returns an empty run if they are not in the column.
[[nodiscard]] inline Bytes contiguous(const ColumnView<uint8_t>& column, size_t begin, size_t end, std::vector<uint8_t>& scratch) {
  if (begin >= end || end > column.size()) return {};
  const Bytes run = column.run_at(begin);
  if (run.size() >= end - begin) return run.first(end - begin);
  scratch.clear();
  while (begin + scratch.size() < end) {
    const Bytes part = column.run_at(begin + scratch.size());
    const size_t wanted = std::min(part.size(), end - begin - scratch.size());
    scratch.insert(scratch.end(), part.begin(), part.begin() + static_cast<ptrdiff_t>(wanted));
  }
  const size_t size = scratch.size();
  scratch.resize(size + kPackedPadding);
  return Bytes(scratch).first(size);
}

}  // namespace mds
