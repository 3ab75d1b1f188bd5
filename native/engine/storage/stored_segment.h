// One segment as records of the index env: its chunks, and a descriptor with the sizes of the columns and the checksum of every chunk. Writing and opening. Opening reads
// every byte once and checks it, so that no search can meet damaged ones. Layout: docs/formats/segment.md, docs/formats/index-env.md.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/status.h"
#include "segment/segment.h"
#include "storage/index_env.h"

namespace mds {

struct StoredDescriptor {
  uint32_t crc;  // of the descriptor's bytes: the manifest names it
  uint32_t chunkCount;
};

// Writes the chunks in transactions of at most kStoreTransactionBytes, the descriptor in the last one. What an interrupted write leaves is swept at the next start.
[[nodiscard]] Result<StoredDescriptor> write_stored_segment(IndexEnv& env, uint64_t serial, const SegmentColumns& columns, const std::atomic<bool>& stop);

struct StoredChunks {
  std::vector<uint64_t> columnSizes;
  std::vector<const uint8_t*> chunks;
  uint64_t bytes;
};

// Finds and checks the chunks of a segment whose descriptor has this checksum.
[[nodiscard]] Result<StoredChunks> open_stored_chunks(const IndexEnv& env, uint64_t serial, uint32_t descriptorCrc);

// Views of the columns in the chunks; `stored.chunks` must stay where it is as long as they are used.
[[nodiscard]] SegmentViews views_of(const StoredChunks& stored);

}  // namespace mds
