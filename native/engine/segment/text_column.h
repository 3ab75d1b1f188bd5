// Byte strings in one column, their cumulative ends in another: keys, languages, dictionary blocks. Every
// string is returned as one contiguous run. The few strings that straddle two chunks of a stored segment (at
// most one per chunk border) are copied once, when the segment is opened. Any number of threads read it.
// Valid as long as the segment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "segment/column_view.h"

namespace mds {

class TextColumn {
 public:
  TextColumn() noexcept = default;
  TextColumn(ColumnView<uint32_t> ends, ColumnView<uint8_t> bytes) : ends_(ends), bytes_(bytes) { copy_straddling(); }

  [[nodiscard]] uint32_t size() const noexcept { return static_cast<uint32_t>(ends_.size()); }
  [[nodiscard]] uint64_t seam_bytes() const noexcept {
    uint64_t bytes = seams_.capacity() * sizeof(Seam);
    for (const Seam& seam : seams_) bytes += seam.bytes.capacity();
    return bytes;
  }

  // Empty if the ends do not ascend within the column, which occurs only in a damaged segment.
  [[nodiscard]] Bytes operator[](uint32_t index) const noexcept {
    const size_t begin = begin_of(index);
    const size_t end = ends_[index];
    if (begin >= end || end > bytes_.size()) return {};
    const Bytes run = bytes_.run_at(begin);
    return run.size() >= end - begin ? run.first(end - begin) : seam_of(index);
  }

 private:
  struct Seam {
    uint32_t index;
    std::vector<uint8_t> bytes;  // followed by kPackedPadding zero bytes
  };

  [[nodiscard]] size_t begin_of(uint32_t index) const noexcept { return index == 0 ? 0 : ends_[index - 1]; }

  [[nodiscard]] Bytes seam_of(uint32_t index) const noexcept {
    const auto found = std::lower_bound(seams_.begin(), seams_.end(), index, [](const Seam& seam, uint32_t wanted) { return seam.index < wanted; });
    if (found == seams_.end() || found->index != index) return {};
    return Bytes(found->bytes).first(found->bytes.size() - kPackedPadding);
  }

  void copy_straddling() {
    for (size_t border = bytes_.run_at(0).size(); border < bytes_.size(); border += bytes_.run_at(border).size()) {
      const uint32_t index = first_ending_behind(border);
      if (index == ends_.size() || begin_of(index) >= border || ends_[index] > bytes_.size()) continue;
      if (!seams_.empty() && seams_.back().index >= index) continue;
      Seam seam{index, {}};
      (void)contiguous(bytes_, begin_of(index), ends_[index], seam.bytes);
      seams_.push_back(std::move(seam));
    }
  }

  [[nodiscard]] uint32_t first_ending_behind(size_t border) const noexcept {
    uint32_t begin = 0;
    uint32_t end = size();
    while (begin < end) {
      const uint32_t middle = begin + (end - begin) / 2;
      if (ends_[middle] > border) {
        end = middle;
      } else {
        begin = middle + 1;
      }
    }
    return begin;
  }

  ColumnView<uint32_t> ends_;
  ColumnView<uint8_t> bytes_;
  std::vector<Seam> seams_;  // by index
};

}  // namespace mds
