// libFuzzer target for the reads from the index env. The first byte selects the manifest, the pages of the
// file, or the chunks of a stored segment, whose bytes are replaced by the input.
#include <array>

#include "storage/chunk_layout.h"
#include "storage/env_check.h"
#include "storage/manifest.h"
#include "support/stored_walk.h"

namespace {

size_t column_count() {
  mds::SegmentViews views;
  size_t count = 0;
  mds::zip_columns(views, views, [&count](const auto&, const auto&, mds::ColumnStart) { ++count; });
  return count;
}

// Input: the sizes of the columns (u16 each), then the bytes of the chunks, repeated as often as needed.
void walk(mds::Bytes input) {
  static const size_t kColumns = column_count();
  if (input.size() < kColumns * 2 + 1) return;
  mds::test::ChunkBytes bytes;
  // Up to 1 023 elements each: at most two chunks, and some thousand inputs per second.
  for (size_t column = 0; column < kColumns; ++column) bytes.columnSizes.push_back(input[column * 2] | uint64_t{input[column * 2 + 1] & 3U} << 8);
  const mds::Bytes fill = input.subspan(kColumns * 2);
  size_t at = 0;
  for (const size_t size : mds::layout_of(bytes.columnSizes).chunkValueBytes) {
    std::vector<uint8_t>& chunk = bytes.chunks.emplace_back(size);
    for (uint8_t& byte : chunk) byte = fill[at++ % fill.size()];
  }
  (void)mds::test::walk_stored(bytes, fill[0]);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const mds::Bytes input(data + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      (void)mds::decode_manifest(input);
      break;
    case 1:
      (void)mds::check_env_bytes(input);
      break;
    case 2:
      (void)mds::check_truth_bytes(input, false);
      (void)mds::check_truth_bytes(input, true);
      break;
    default:
      walk(input);
  }
  return 0;
}
