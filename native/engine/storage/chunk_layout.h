// Computes the positions of the columns of a stored segment in its chunks. The layout is determined by the
// sizes of the columns alone, so a segment's descriptor contains sizes, not offsets. Columns are stored one
// after another. Each begins at a multiple of 8 bytes and of its element size. Columns whose writer respects
// chunk borders begin at a new chunk. No element spans two chunks. Pure. Layout: docs/formats/segment.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/limits.h"
#include "segment/segment_columns.h"

namespace mds {

struct ColumnPosition {
  uint32_t firstChunk;
  size_t shift;  // number of elements that fit before its first element in that chunk
};

struct ChunkLayout {
  std::vector<ColumnPosition> columns;  // in the order of zip_columns
  std::vector<size_t> chunkValueBytes;
};

// Size in bytes of a chunk's value with `used` bytes and their padding. It fills whole pages including LMDB's
// header, so every chunk has its own pages and never moves.
[[nodiscard]] inline size_t chunk_value_bytes(size_t used) noexcept {
  constexpr size_t kPage = 4096;
  constexpr size_t kHeader = (size_t{64} << 10) - kChunkValueBytes;
  return (used + kPackedPadding + kHeader + kPage - 1) / kPage * kPage - kHeader;
}

class ChunkLayoutBuilder {
 public:
  void add_column(size_t elementBytes, size_t count, ColumnStart start) {
    const size_t perChunk = kChunkBytes / elementBytes;
    if (start == ColumnStart::kOwnChunks) end_chunk();
    size_t shift = ((used_ + 7) / 8 * 8 + elementBytes - 1) / elementBytes;
    if (shift >= perChunk) {
      end_chunk();
      shift = 0;
    }
    layout_.columns.push_back({static_cast<uint32_t>(layout_.chunkValueBytes.size()), shift});
    size_t left = count;
    while (shift + left > perChunk) {
      left -= perChunk - shift;
      shift = 0;
      used_ = perChunk * elementBytes;
      end_chunk();
    }
    if (left > 0) used_ = (shift + left) * elementBytes;
  }
  [[nodiscard]] ChunkLayout finish() {
    end_chunk();
    return std::move(layout_);
  }

 private:
  void end_chunk() {
    if (used_ > 0) layout_.chunkValueBytes.push_back(chunk_value_bytes(used_));
    used_ = 0;
  }

  ChunkLayout layout_;
  size_t used_ = 0;  // number of bytes in the open chunk
};

// `sizes`: number of elements of each column, in the order of zip_columns.
[[nodiscard]] inline ChunkLayout layout_of(std::span<const uint64_t> sizes) {
  ChunkLayoutBuilder builder;
  SegmentViews views;
  size_t column = 0;
  zip_columns(views, views, [&](const auto& view, const auto&, ColumnStart start) { builder.add_column(sizeof(view[0]), static_cast<size_t>(sizes[column++]), start); });
  return builder.finish();
}

}  // namespace mds
